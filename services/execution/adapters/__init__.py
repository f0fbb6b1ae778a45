"""Adapters through which tools reach their targets: a port, and one adapter for each way."""
