"""The services that hold what is known, as the gateway's pages ask them."""

from collections.abc import Callable
from dataclasses import dataclass

from services.contracts.composing import Composing
from services.contracts.ingestion import Ingestion
from services.contracts.proposals import Proposals
from services.contracts.readings import Readings
from services.contracts.retrieval import Retrieval
from services.kit.access.caller import Caller


@dataclass(frozen=True)
class Knowledge:
    """In this process, or over HTTP on behalf of the caller of the page."""

    ingestion: Ingestion
    readings: Callable[[Caller], Readings]
    retrieval: Retrieval
    proposals: Proposals
    composing: Composing | None = None
