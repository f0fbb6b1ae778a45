"""Route `POST /mcp`, with the same access control as every other route."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from fastapi import APIRouter
from starlette.types import Receive, Scope, Send

from services.contracts.composing import Compositions
from services.contracts.execution import Execution
from services.contracts.retrieval import Retrieval
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.tickets.adoption.service import AdoptionService
from services.tickets.service import TicketService
from services.tickets.triage.service import TriageService
from services.web.mcp.tool import Platform


@dataclass
class McpEndpoint:
    """The endpoint as plain ASGI, since the protocol writes its own responses."""

    platform: Callable[[Event], Platform]
    """Function from the event of the process's end to the services that tools work with."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of the protocol."""
        from services.web.mcp.server import exchange  # noqa: PLC0415 - slow to import

        platform = self.platform(scope["app"].state.stopping)
        await exchange(platform, current_caller(), scope, receive, send)


def create_mcp_router(
    tickets: TicketService,
    triage: TriageService,
    adoption: AdoptionService,
    retrieval: Retrieval,
    *,
    execution: Execution | None = None,
    composing: Compositions | None = None,
) -> APIRouter:
    """Build the router of the one route; its tools are `server.TOOLS`."""

    def platform(stopping: Event) -> Platform:
        return Platform(tickets, triage, adoption, retrieval, execution, composing, stopping)

    router = APIRouter()
    # Tools that change something need `operate`, which each asks for.
    endpoint = needs(Need.READ)(McpEndpoint(platform))
    router.add_route("/mcp", endpoint, methods=["POST"], include_in_schema=False)  # type: ignore[arg-type]
    return router
