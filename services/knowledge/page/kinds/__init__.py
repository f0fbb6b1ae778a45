"""Kinds of pages as a whole: of several tasks, or mostly links."""
