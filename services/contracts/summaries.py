"""Summaries: what was done about tickets becomes a page that somebody may accept."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol
from urllib.parse import quote

from pydantic import Field, model_validator

from services.kit.http.client import ServiceClient
from services.kit.value import Value


class SummaryState(StrEnum):
    """Where a summary stands."""

    DRAWING = "drawing"
    """The rules' page is there; a model is still asked for a better one."""
    LEARNED = "learned"
    REFUSED = "refused"
    """The traces do not say one thing."""
    PROPOSING = "proposing"
    PROPOSED = "proposed"
    """Its pages wait for somebody to accept them."""


_Id = Annotated[str, Field(min_length=1, max_length=200)]


class SummaryRequest(Value):
    """What is to be summarised: runs that are over, or all those of tickets."""

    run_ids: tuple[_Id, ...] = Field(default=(), max_length=200)
    ticket_ids: tuple[_Id, ...] = Field(default=(), max_length=200)
    title: str = Field(min_length=1, max_length=300)
    """Of the page: the fault, in a few words."""

    @model_validator(mode="after")
    def _of_something(self) -> "SummaryRequest":
        if not self.run_ids and not self.ticket_ids:
            raise ValueError("expected run_ids or ticket_ids")
        return self


class LearnedPage(Value):
    """A page that was learned."""

    title: str
    text: str
    """Markdown."""
    learned_from: int
    """Tickets; 1: one path was seen."""
    by_model: str = ""
    """The model that drew it; empty: rules."""
    steps: int
    decisions: int
    changes: tuple[str, ...] = ()
    """Tools by which it changes something."""
    replayed: int
    """Traces at hand that lead to the changes which were made, or to none where none helped."""
    left_out: int | None = None
    """Traces that do so where the page is learned from the others; None: there is one alone."""
    proposal_id: str = ""
    document_id: str = ""
    """What it is called among documents, once it is proposed."""


class SummaryReport(Value):
    """What came of a summary."""

    key: str
    """The same runs under the same title have the same."""
    title: str
    state: SummaryState
    traces: int
    pages: tuple[LearnedPage, ...] = ()
    """One for each fault that the tickets name; none where it is refused."""
    refused: tuple[str, ...] = ()
    """Why something was not learned, in words."""
    by: str
    at: datetime


class Summaries(Protocol):
    """Learns from what was done; whoever calls is the current caller."""

    def summarise(self, request: SummaryRequest) -> SummaryReport:
        """Learn from these runs; the same again gives what is there.

        Raises:
            NotFoundError: No such run.
            ConflictError: A run is not over, or none of them did anything.
        """

    def summary(self, key: str) -> SummaryReport:
        """Raises `NotFoundError`."""

    def propose(self, key: str) -> SummaryReport:
        """Have its pages proposed as they are now; again, it is the same proposal.

        Raises:
            NotFoundError: No such summary.
            ConflictError: Nothing was learned.
        """


class SummariesClient:
    """`Summaries` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def summarise(self, request: SummaryRequest) -> SummaryReport:
        """See `Summaries.summarise`."""
        return SummaryReport.model_validate(self._client.post("/v1/summaries", request))

    def summary(self, key: str) -> SummaryReport:
        """See `Summaries.summary`."""
        return SummaryReport.model_validate(self._client.get(_path(key)))

    def propose(self, key: str) -> SummaryReport:
        """See `Summaries.propose`."""
        return SummaryReport.model_validate(self._client.post(f"{_path(key)}/proposal", {}))


def _path(key: str) -> str:
    return f"/v1/summaries/{quote(key, '')}"
