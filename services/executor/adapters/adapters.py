"""The adapters that there are, by the way that tools name."""

from services.executor.adapters.http import HttpAdapter
from services.executor.adapters.mcp import McpAdapter
from services.executor.adapters.port import Adapters
from services.executor.adapters.ssh import SshAdapter


def all_adapters() -> Adapters:
    """One of each."""
    http = HttpAdapter()
    return {"ssh": SshAdapter(), "http": http, "prometheus": http, "mcp": McpAdapter()}
