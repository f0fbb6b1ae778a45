"""What the pages of knowledge ask."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from services.contracts.readings import Readings
from services.gateway.coverage.queries import Coverages
from services.gateway.knowledge import Knowledge
from services.gateway.ticket.citations import Citations
from services.kit.access.dependency import RequestCaller
from services.kit.errors import UnavailableError


@dataclass(frozen=True)
class Known:
    """The services, where the gateway was given them, and what it knows itself."""

    services: Knowledge | None
    coverage: Coverages
    citations: Citations


class NoKnowledgeError(UnavailableError):
    """This gateway was started without the services that hold what is known."""


async def _known(request: Request) -> Known:
    known: Known = request.app.state.knowledge
    return known


async def _services(request: Request) -> Knowledge:
    services = (await _known(request)).services
    if services is None:
        raise NoKnowledgeError("this gateway knows no ingestion and no retrieval to ask")
    return services


async def _readings(request: Request, caller: RequestCaller) -> Readings:
    return (await _services(request)).readings(caller)


OwnKnown = Annotated[Known, Depends(_known)]
Services = Annotated[Knowledge, Depends(_services)]
CallersReadings = Annotated[Readings, Depends(_readings)]
