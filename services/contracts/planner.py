"""Planner: a ticket and what is known about it in, candidate workflows out."""

from collections.abc import Iterator
from typing import Protocol

from pydantic import Field

from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.kit.http.client import ServiceClient
from services.kit.value import Value
from services.knowledge.model import KnowledgeContext
from services.workflow.model import Workflow

SERVED_BY = "extractive"
"""The planner of a workflow that is a stored reading; others are written for the ticket."""


class PlanRequest(Value):
    """One planning task; the planner knows nothing but this."""

    ticket: TicketDraft
    context: KnowledgeContext
    pages: tuple[PageReading, ...] = ()
    """The readings of its documents, the most relevant page first."""
    deadline_s: float | None = Field(default=None, ge=0)
    """Seconds in which the ticket wants its workflows; the planner's own limit where it is None.
    Candidates that need no model come in any case."""


class Candidate(Value):
    """A workflow that competes to be the answer. Its origin is `workflow.provenance`."""

    id: str
    workflow: Workflow


class PlanResponse(Value):
    """Candidates, the planner's own favourite first; none when the context holds no procedure."""

    candidates: tuple[Candidate, ...]


class Planner(Protocol):
    """Writes candidate workflows."""

    def plan(self, request: PlanRequest) -> PlanResponse:
        """At least one candidate whenever the context holds a procedure."""

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """The same candidates, each as soon as it is written; closing it cancels the others."""


class PlannerClient:
    """`Planner` over HTTP; raises what the service refused with."""

    def __init__(self, http: ServiceClient) -> None:
        """`http` knows the service's address."""
        self._http = http

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`."""
        return PlanResponse.model_validate(self._http.post("/v1/plans", request))

    def stream(self, request: PlanRequest) -> Iterator[Candidate]:
        """See `Planner.stream`."""
        for line in self._http.post_for_lines("/v1/plans/stream", request):
            yield Candidate.model_validate_json(line)
