"""Summaries: work on tickets becomes a page that a person may accept."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import Field, model_validator

from services.contracts.client import ContractClient, route
from services.contracts.ticket import PurgedTickets
from services.kit.value import Value


class SummaryState(StrEnum):
    """State of a summary."""

    DRAWING = "drawing"
    """The page drawn by rules is there; a model is still asked for a better one."""
    LEARNED = "learned"
    REFUSED = "refused"
    """The traces contradict each other."""
    PROPOSING = "proposing"
    PROPOSED = "proposed"
    """The pages wait for acceptance."""


_Id = Annotated[str, Field(min_length=1, max_length=200)]


class SummaryRequest(Value):
    """Request to summarise runs that are over: the named ones, or all those of tickets."""

    run_ids: tuple[_Id, ...] = Field(default=(), max_length=200)
    ticket_ids: tuple[_Id, ...] = Field(default=(), max_length=200)
    title: str = Field(min_length=1, max_length=300)
    """Title of the page: the fault, in a few words."""

    @model_validator(mode="after")
    def _of_something(self) -> "SummaryRequest":
        if not self.run_ids and not self.ticket_ids:
            raise ValueError("expected run_ids or ticket_ids")
        return self


class LearnedPage(Value):
    """A page learned from work on tickets."""

    title: str
    text: str
    """Text in Markdown."""
    learned_from: int
    """Number of tickets; 1: a single path was seen."""
    by_model: str = ""
    """Model that drew the page; empty: rules."""
    steps: int
    decisions: int
    changes: tuple[str, ...] = ()
    """Tools by which the page changes something."""
    replayed: int
    """Number of traces that, replayed on the page, lead to the changes that were made, or to none
    if none helped.
    """
    left_out: int | None = None
    """Number of traces that do so on the page learned from the others (leave-one-out); None for a
    single trace.
    """
    proposal_id: str = ""
    document_id: str = ""
    """Document id, once the page is proposed."""


class SummaryReport(Value):
    """Result of a summary."""

    key: str
    """Idempotency key: the same runs under the same title have the same."""
    title: str
    state: SummaryState
    traces: int
    pages: tuple[LearnedPage, ...] = ()
    """One page for each fault that the tickets name; none if the summary was refused."""
    refused: tuple[str, ...] = ()
    """Reasons, in words, why something was not learned."""
    by: str
    at: datetime


class Summaries(Protocol):
    """Summaries of work on tickets, in the name of the current caller."""

    def summarise(self, request: SummaryRequest) -> SummaryReport:
        """Learn from these runs; the same request again returns the existing summary.

        Raises:
            NotFoundError: No such run.
            ConflictError: A run is not over, or none of them did anything.
        """

    def summary(self, key: str) -> SummaryReport:
        """Return a summary.

        Raises:
            NotFoundError: No such summary.
        """

    def propose(self, key: str) -> SummaryReport:
        """Propose the summary's pages as they are now; a repeated call is the same proposal.

        Raises:
            NotFoundError: No such summary.
            ConflictError: Nothing was learned.
        """

    def forget_tickets(self, purged: PurgedTickets) -> None:
        """Delete the runs and searches of these tickets, and the summaries of them.

        Bindings learned for a page stay if the page was accepted.

        Raises:
            UnavailableError: A worker drives one of them just now; calling again helps.
        """


class SummariesClient(ContractClient):
    """`Summaries` in another process, over HTTP."""

    summarise = route(Summaries.summarise, "POST", "/v1/summaries")
    summary = route(Summaries.summary, "GET", "/v1/summaries/{key}")
    propose = route(Summaries.propose, "POST", "/v1/summaries/{key}/proposal")
    forget_tickets = route(Summaries.forget_tickets, "POST", "/v1/runs/removals")
