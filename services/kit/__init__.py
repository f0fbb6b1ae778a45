"""Plumbing that every service shares. It holds no business noun."""
