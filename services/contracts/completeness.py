"""Completeness: what others of the same kind check, and this one does not."""

from typing import Protocol

from services.contracts.readings import ReadingDetail
from services.kit.value import Value


class CheckSource(Value):
    """Where one of the others checks it: lines of a page, or a past ticket."""

    document_id: str = ""
    start_line: int = 0
    end_line: int = 0
    ticket_id: str = ""
    said: str
    """In its words."""
    commands: tuple[str, ...] = ()
    """With which it is looked at there."""


class SuggestedCheck(Value):
    """A check that most others have; it is no step, and nothing runs it."""

    text: str
    have: int
    """Of the others, those that have it, and `of` how many there are."""
    of: int
    sources: tuple[CheckSource, ...]


class Suggestions(Value):
    """By one kind of others."""

    checks: tuple[SuggestedCheck, ...] = ()
    """At most five, those that most have first."""
    others: int = 0
    why_none: str = ""
    """Why there is none; empty where there is one."""


class Completeness(Value):
    """Of the workflow that a ticket shows, or of a page."""

    workflow_id: str = ""
    """Empty of a page."""
    pages: Suggestions
    """By other pages that treat the same kind of fault."""
    tickets: Suggestions
    """By what people looked at on past tickets: of the same alert, or that this page answered."""


class Completing(Protocol):
    """Says what others check."""

    def of_ticket(self, ticket_id: str) -> Completeness:
        """Computed when it is asked for.

        Raises:
            NotFoundError: No such ticket, or it shows no workflow.
            UnavailableError: Retrieval did not answer.
        """

    def of_page(self, page: ReadingDetail) -> Completeness:
        """Of all procedures that are read in a page, likewise.

        Raises:
            UnavailableError: Retrieval did not answer.
        """
