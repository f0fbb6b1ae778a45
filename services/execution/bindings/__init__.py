"""Bindings: the tool that carries a step out, and the fields that answer a question."""
