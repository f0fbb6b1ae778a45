"""Composition of procedures from sentences over components: a team of prompts, checked by code."""
