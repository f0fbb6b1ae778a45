"""All adapters, by the way that a tool names."""

from services.executor.adapters.http import HttpAdapter
from services.executor.adapters.mcp import McpAdapter
from services.executor.adapters.port import Adapters
from services.executor.adapters.ssh import SshAdapter


def all_adapters() -> Adapters:
    """Return one adapter for each way."""
    http = HttpAdapter()
    return {"ssh": SshAdapter(), "http": http, "prometheus": http, "mcp": McpAdapter()}
