"""How tools reach their targets: a port, and an adapter for each way."""
