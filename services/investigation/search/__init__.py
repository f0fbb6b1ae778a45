"""Searches for causes: experts look with read-only tools, backtrack, and show their evidence."""
