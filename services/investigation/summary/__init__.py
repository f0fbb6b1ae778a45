"""Summaries: workflows learned from what was done about tickets, and checked by replaying it."""
