"""`flowxpert mcp`: serve the tools of a running platform on stdin and stdout."""

from typing import TYPE_CHECKING

import typer

from services.cli.platform_access import ANSWER_WITHIN_S, DEFAULT_URL, Url, key_of_settings

if TYPE_CHECKING:
    from mcp import Client
    from pydantic import SecretStr


def mcp(*, url: Url = DEFAULT_URL) -> None:
    """Speak the Model Context Protocol on stdin and stdout, for programs that start their servers.

    Each call goes to the running platform, with the key or token of the settings.
    """
    import anyio  # noqa: PLC0415

    try:
        anyio.run(_bridge, f"{url.rstrip('/')}/mcp", key_of_settings())
    except* OSError as errors:
        typer.echo(f"{url} does not answer: {errors.exceptions[0]}", err=True)
        raise typer.Exit(1) from None


async def _bridge(address: str, key: "SecretStr | None") -> None:
    import httpx2  # noqa: PLC0415
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    headers = {"authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    timeout = httpx2.Timeout(ANSWER_WITHIN_S, connect=5.0)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as http,
        Client(streamable_http_client(address, http_client=http)) as platform,
    ):
        await _serve(platform)


async def _serve(platform: "Client") -> None:
    """Forward listings and calls of tools, and their results."""
    import mcp_types as types  # noqa: PLC0415
    from mcp import stdio_server  # noqa: PLC0415
    from mcp.server.lowlevel import Server  # noqa: PLC0415

    async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
        return await platform.list_tools()

    async def call_tool(
        _context: object, call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await platform.call_tool(call.name, call.arguments)

    server = Server(
        "flowxpert",
        title="FlowXpert",
        version="1",
        instructions=platform.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
