"""Tickets by the many: lists, counts, gauges, and those that belong together."""
