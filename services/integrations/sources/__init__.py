"""Ticket systems: deliveries from bytes to tickets, ends and comments."""
