"""`POST /mcp`: behind the gate that every route is behind."""

from fastapi import APIRouter, FastAPI
from starlette.types import Receive, Scope, Send

from services.contracts.retrieval import Retrieval
from services.gateway.mcp.tool import Platform
from services.kit.access.caller import current_caller


class McpEndpoint:
    """The address as plain ASGI, since the protocol writes its own answers."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of the protocol."""
        from services.gateway.mcp.server import exchange  # noqa: PLC0415 - slow to import

        platform = self._platform(scope["app"])
        await exchange(platform, current_caller(), scope, receive, send)

    def _platform(self, app: FastAPI) -> Platform:
        state = app.state
        return Platform(
            gateway=state.gateway,
            triage=state.triage,
            adoption=state.adoption,
            retrieval=self._retrieval,
            stopping=state.stopping,
        )


def create_mcp_router(retrieval: Retrieval) -> APIRouter:
    """The one route; what it offers is `server.TOOLS`."""
    router = APIRouter()
    endpoint = McpEndpoint(retrieval)
    router.add_route("/mcp", endpoint, methods=["POST"], include_in_schema=False)  # type: ignore[arg-type]
    return router
