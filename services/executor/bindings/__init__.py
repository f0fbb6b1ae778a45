"""Bindings: which tool carries a step out, and which of its fields answers a question."""
