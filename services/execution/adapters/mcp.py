"""Tools of MCP servers, through the official SDK."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import Transport
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import MCP_DEFAULT_SSE_READ_TIMEOUT, MCP_DEFAULT_TIMEOUT

from services.execution.adapters.port import (
    BeforeSending,
    NotSentError,
    StoppedError,
    TargetAnswer,
    UnknownEffectError,
    send_at_once,
)
from services.execution.tools.importing.mcp import ListedTool
from services.execution.tools.target import Target
from services.execution.tools.tool import McpWay, Tool
from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.pinned import AsyncPinnedTransport

_VENDORS = (MCPError, OSError, TimeoutError, ValueError, ForbiddenAddressError)

MOST_LISTED = 500
"""Most tools of one server that are listed."""

_MOST_BYTES = 16_000_000
"""Limit for one answer on the wire."""


class McpAdapter:
    """Implements `ToolAdapter`. A server is connected to, or started, for each call."""

    def call(
        self,
        tool: Tool,
        target: Target,
        arguments: Mapping[str, str],
        *,
        before_sending: BeforeSending = send_at_once,
    ) -> TargetAnswer:
        """See `ToolAdapter.call`."""
        way = tool.way
        if not isinstance(way, McpWay):
            raise TypeError(tool.name)
        server = _server_of(target)
        typed = {name: tool.parameters[name].typed(value) for name, value in arguments.items()}
        mcp_call = _McpCall(
            server,
            way.name,
            typed,
            as_text=tool.output.parser == "text",
            before_sending=before_sending,
        )
        try:
            return TargetAnswer(asyncio.run(asyncio.wait_for(mcp_call.run(), tool.timeout_s)))
        except (*_VENDORS, ExceptionGroup) as error:
            message = f"{target.name}: {type(error).__name__}"
            if mcp_call.is_sent:
                raise UnknownEffectError(f"{message} after {tool.name} was sent") from error
            raise NotSentError(message) from error


def list_tools(target: Target, *, within_s: float = 30.0) -> list[ListedTool]:
    """List the tools of a server, which is connected to, or started, for it.

    Raises:
        NotSentError: It did not answer, or not as a server does.
    """
    try:
        return asyncio.run(asyncio.wait_for(_list_all(_server_of(target)), within_s))
    except (*_VENDORS, ExceptionGroup) as error:
        raise NotSentError(f"{target.name} lists no tools: {type(error).__name__}") from error


async def _list_all(server: Transport | StdioServerParameters) -> list[ListedTool]:
    listed: list[ListedTool] = []
    async with Client(server) as client:
        cursor: str | None = None
        while len(listed) < MOST_LISTED:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                hints = tool.annotations
                looks = bool(hints and hints.read_only_hint and not hints.destructive_hint)
                listed.append(
                    ListedTool(
                        name=tool.name,
                        description=tool.description or tool.title or "",
                        takes=tool.input_schema,
                        tells=tool.output_schema or {},
                        looks=looks,
                    )
                )
            cursor = page.next_cursor
            if not cursor:
                break
    return listed[:MOST_LISTED]


def _server_of(target: Target) -> Transport | StdioServerParameters:
    """Return the connection to a target's server, or the command that starts it.

    Raises:
        StoppedError: The target names neither.
    """
    if target.command:
        return StdioServerParameters(command=target.command[0], args=[*target.command[1:]])
    if not target.url:
        raise StoppedError(f"{target.name} has neither an address nor a command")
    return _connect(target.url)


@asynccontextmanager
async def _connect(url: str) -> AsyncIterator[TransportStreams]:
    """Connect to a server; a redirect is followed within its origin alone, as the SDK has it."""
    client = httpx2.AsyncClient(
        transport=AsyncPinnedTransport(_MOST_BYTES),
        timeout=httpx2.Timeout(MCP_DEFAULT_TIMEOUT, read=MCP_DEFAULT_SSE_READ_TIMEOUT),
    )
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams


class _McpCall:
    """One call of an MCP tool; it knows whether it was sent."""

    def __init__(
        self,
        server: Transport | StdioServerParameters,
        name: str,
        arguments: Mapping[str, object],
        *,
        as_text: bool,
        before_sending: BeforeSending,
    ) -> None:
        """Prepare the call; `as_text` prefers the answer's text to its structured fields."""
        self._as_text = as_text
        self._before_sending = before_sending
        self._server = server
        self._name = name
        self._arguments = dict(arguments)
        self.is_sent = False

    async def run(self) -> str:
        async with Client(self._server) as client:
            self._before_sending()
            self.is_sent = True
            result = await client.call_tool(self._name, self._arguments)
        if result.is_error:
            raise MCPError(code=0, message=f"{self._name} failed")
        text = "\n".join(part.text for part in result.content if part.type == "text")
        if result.structured_content is None or (self._as_text and text):
            return text
        return json.dumps(result.structured_content)
