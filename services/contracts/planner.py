"""Planner: a ticket and what is known about it in, candidate workflows out."""

from typing import Protocol

from pydantic import BaseModel, ConfigDict

from services.contracts.ticket import TicketDraft
from services.kit.http import ServiceClient
from services.knowledge.model import KnowledgeContext
from services.workflow.model import Workflow


class PlanRequest(BaseModel):
    """One planning task; the planner knows nothing but this."""

    model_config = ConfigDict(frozen=True)

    ticket: TicketDraft
    context: KnowledgeContext


class Candidate(BaseModel):
    """A workflow that competes to be the answer. Its origin is `workflow.provenance`."""

    model_config = ConfigDict(frozen=True)

    id: str
    workflow: Workflow


class PlanResponse(BaseModel):
    """Candidates, the planner's own favourite first; none when the context holds no procedure."""

    model_config = ConfigDict(frozen=True)

    candidates: tuple[Candidate, ...]


class Planner(Protocol):
    """Writes candidate workflows."""

    def plan(self, request: PlanRequest) -> PlanResponse:
        """At least one candidate whenever the context holds a procedure."""


class PlannerClient:
    """`Planner` over HTTP; raises what the service refused with."""

    def __init__(self, http: ServiceClient) -> None:
        """`http` knows the service's address."""
        self._http = http

    def plan(self, request: PlanRequest) -> PlanResponse:
        """See `Planner.plan`."""
        return PlanResponse.model_validate(self._http.post("/v1/plans", request))
