"""The port to whatever carries a tool out."""

from collections.abc import Mapping
from typing import Protocol

from services.executor.tools.target import Target
from services.executor.tools.tool import Tool
from services.kit.errors import FlowXpertError


class NotSentError(FlowXpertError):
    """Surely nothing reached the target: no connection, no log-in, another host key."""

    status_code = 502


class StoppedError(NotSentError):
    """Nothing was sent, and nobody should try again: another host key, no credentials."""


class UnknownEffectError(FlowXpertError):
    """It was sent, or may have been, and what came of it is not known."""

    status_code = 502


class ToolAdapter(Protocol):
    """Carries out tools of one way. Safe to use in several threads."""

    def call(self, tool: Tool, target: Target, arguments: Mapping[str, str]) -> str:
        """What the target answered; at most `tool.most_bytes` and a few more characters.

        Raises:
            NotSentError: Surely nothing reached the target.
            UnknownEffectError: Something may have.
        """


Adapters = Mapping[str, ToolAdapter]
"""By the way that tools name: `ssh`, `http`, `prometheus`, `mcp`."""
