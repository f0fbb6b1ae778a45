"""All adapters, by the way that a tool names."""

from services.execution.adapters.http import HttpAdapter
from services.execution.adapters.mcp import McpAdapter
from services.execution.adapters.port import Adapters
from services.execution.adapters.ssh import SshAdapter


def all_adapters() -> Adapters:
    """Return one adapter for each way."""
    http = HttpAdapter()
    return {"ssh": SshAdapter(), "http": http, "prometheus": http, "mcp": McpAdapter()}
