"""Searches for causes: experts look with tools that change nothing, go back, and show evidence."""
