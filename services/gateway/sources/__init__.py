"""Ticket systems: from the bytes of a delivery to tickets, ends and comments."""
