"""Adapters for readers and judges, from readings that people approved."""
