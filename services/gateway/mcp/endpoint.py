"""`POST /mcp`: behind the gate that every route is behind."""

from fastapi import APIRouter
from starlette.types import Receive, Scope, Send

from services.contracts.composing import Composing
from services.contracts.execution import Execution
from services.contracts.retrieval import Retrieval
from services.gateway.mcp.tool import Platform
from services.gateway.ports import Adoption, Tickets, Triage
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs


class McpEndpoint:
    """The address as plain ASGI, since the protocol writes its own answers."""

    def __init__(
        self,
        tickets: Tickets,
        triage: Triage,
        adoption: Adoption,
        retrieval: Retrieval,
        *,
        execution: Execution | None,
        composing: Composing | None,
    ) -> None:
        self._tickets = tickets
        self._triage = triage
        self._adoption = adoption
        self._retrieval = retrieval
        self._execution = execution
        self._composing = composing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of the protocol."""
        from services.gateway.mcp.server import exchange  # noqa: PLC0415 - slow to import

        platform = Platform(
            gateway=self._tickets,
            triage=self._triage,
            adoption=self._adoption,
            retrieval=self._retrieval,
            execution=self._execution,
            composing=self._composing,
            stopping=scope["app"].state.stopping,
        )
        await exchange(platform, current_caller(), scope, receive, send)


def create_mcp_router(
    tickets: Tickets,
    triage: Triage,
    adoption: Adoption,
    retrieval: Retrieval,
    *,
    execution: Execution | None = None,
    composing: Composing | None = None,
) -> APIRouter:
    """The one route; what it offers is `server.TOOLS`."""
    router = APIRouter()
    # Tools that change something need `operate`, which each asks for.
    endpoint = needs(Need.READ)(
        McpEndpoint(tickets, triage, adoption, retrieval, execution=execution, composing=composing)
    )
    router.add_route("/mcp", endpoint, methods=["POST"], include_in_schema=False)  # type: ignore[arg-type]
    return router
