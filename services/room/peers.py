"""The other deployables, as a room that calls them sees them."""

from collections.abc import Callable
from typing import Protocol, Self

from services.contracts.composing import Composing
from services.contracts.execution import Execution
from services.contracts.gateway import Tickets
from services.contracts.ingestion import Ingestion
from services.contracts.planner import Planner
from services.contracts.proposals import Proposals
from services.contracts.readings import Readings
from services.contracts.retrieval import Retrieval
from services.contracts.scorer import Scorer
from services.contracts.searching import Searching
from services.contracts.summaries import Summaries
from services.contracts.syncing import Syncing
from services.kit.access.caller import Caller
from services.kit.http.health import Check
from services.room.front import Front


class Peers(Protocol):
    """In this process or over HTTP; each is opened when it is first asked for."""

    @property
    def ingestion(self) -> Ingestion:
        """Documents and jobs."""

    @property
    def readings(self) -> Callable[[Caller], Readings]:
        """What pages tell to do, as it is read and corrected in a caller's name."""

    @property
    def proposals(self) -> Proposals:
        """Pages that wait to be accepted, and what became of others."""

    @property
    def syncing(self) -> Syncing:
        """Sources that are synced on a schedule."""

    @property
    def retrieval(self) -> Retrieval:
        """Ranked knowledge."""

    @property
    def planner(self) -> Planner:
        """Candidate workflows."""

    @property
    def composing(self) -> Composing:
        """Procedures and edits of sentences."""

    @property
    def scorer(self) -> Scorer:
        """Ranked candidates."""

    @property
    def tickets(self) -> Tickets:
        """Tickets and their workflows."""

    @property
    def execution(self) -> Execution:
        """Workflows that are carried out."""

    @property
    def searching(self) -> Searching:
        """Searches for causes."""

    @property
    def summaries(self) -> Summaries:
        """What was done becomes pages."""

    @property
    def fronts(self) -> tuple[Front, ...]:
        """Routes of other rooms that the gateway answers."""

    def in_callers_name(self) -> Self:
        """The same, called with the key or token of whoever calls this process."""

    def within(self, seconds: float) -> Self:
        """The same with so much time for an answer."""

    def checks(self) -> dict[str, Check]:
        """Questions whether they answer, or whether what they keep does."""
