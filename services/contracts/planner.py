"""Planner: a ticket and the knowledge about it in, candidate workflows out."""

from collections.abc import Iterator
from typing import Protocol

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.kit.value import Value
from services.knowledge.model import KnowledgeContext
from services.workflow.model import Workflow

SERVED_BY = "extractive"
"""Planner name of a workflow that is a stored reading; other workflows are written for the
ticket.
"""


class PlanRequest(Value):
    """One planning task, complete: the planner has no other source."""

    ticket: TicketDraft
    context: KnowledgeContext
    pages: tuple[PageReading, ...] = ()
    """Readings of the context's documents, the most relevant page first."""
    deadline_s: float | None = Field(default=None, ge=0)
    """Seconds until the ticket needs its workflows; None for the planner's own limit. Candidates
    that need no model come in any case.
    """


class Candidate(Value):
    """A workflow that competes to be the answer; `workflow.provenance` is its origin."""

    id: str
    workflow: Workflow


class PlanResponse(Value):
    """Candidates, the planner's favourite first; none if the context holds no procedure."""

    candidates: tuple[Candidate, ...]


class Planner(Protocol):
    """Writer of candidate workflows."""

    def plan(self, request: PlanRequest) -> PlanResponse:
        """Return at least one candidate whenever the context holds a procedure."""

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """Yield the same candidates, each as soon as it is written; closing cancels the rest."""


class PlannerClient(ContractClient):
    """`Planner` over HTTP; raises the refusals of the service."""

    plan = route(Planner.plan, "POST", "/v1/plans")
    stream = route(Planner.stream, "POST", "/v1/plans/stream")
