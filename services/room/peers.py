"""The other deployables, as seen by a room that calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from fastapi import APIRouter

    from services.contracts.composing import Compositions
    from services.contracts.execution import Execution
    from services.contracts.gateway import Tickets
    from services.contracts.ingestion import Ingestion
    from services.contracts.planner import Planner
    from services.contracts.proposals import Proposals
    from services.contracts.readings import Readings
    from services.contracts.retrieval import Retrieval
    from services.contracts.scorer import Scorer
    from services.contracts.searching import Searches
    from services.contracts.summaries import Summaries
    from services.contracts.syncing import SyncSources
    from services.kit.access.caller import Caller
    from services.kit.http.health import Check


@dataclass(frozen=True)
class Frontend:
    """Routes of a room that the gateway serves on its behalf, so that clients need one address."""

    routers: tuple[APIRouter, ...]
    body_limits: Mapping[str, int] = field(default_factory=dict)
    """Largest request bodies in bytes, by path prefix."""


class Peers(Protocol):
    """The other rooms, in this process or over HTTP; each is opened on first use."""

    @property
    def ingestion(self) -> Ingestion:
        """Documents and jobs."""

    @property
    def readings(self) -> Callable[[Caller], Readings]:
        """Readings of pages, viewed and corrected in a caller's name."""

    @property
    def proposals(self) -> Proposals:
        """Pages that wait to be accepted, and the fate of earlier ones."""

    @property
    def syncing(self) -> SyncSources:
        """Sources that are synced on a schedule."""

    @property
    def retrieval(self) -> Retrieval:
        """Ranked knowledge."""

    @property
    def planner(self) -> Planner:
        """Candidate workflows."""

    @property
    def composing(self) -> Compositions:
        """Procedures and edits of sentences."""

    @property
    def scorer(self) -> Scorer:
        """Ranked candidates."""

    @property
    def tickets(self) -> Tickets:
        """Tickets and their workflows."""

    @property
    def execution(self) -> Execution:
        """Runs of workflows."""

    @property
    def searching(self) -> Searches:
        """Searches for causes."""

    @property
    def summaries(self) -> Summaries:
        """Summaries of finished work, turned into pages."""

    @property
    def frontends(self) -> tuple[Frontend, ...]:
        """Routes of other rooms that the gateway serves."""

    def in_callers_name(self) -> Self:
        """Return the same peers, called with the key or token of this process's caller."""

    def within(self, seconds: float) -> Self:
        """Return the same peers with this limit on the time for an answer."""

    def checks(self) -> dict[str, Check]:
        """Return health checks of the peers, or of the stores behind them."""
