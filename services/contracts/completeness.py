"""Completeness: checks that comparable pages or tickets have and this one lacks."""

from typing import Protocol

from services.contracts.readings import ReadingDetail
from services.kit.value import Value


class CheckSource(Value):
    """Source of a suggested check: lines of a page, or a past ticket."""

    document_id: str = ""
    start_line: int = 0
    end_line: int = 0
    ticket_id: str = ""
    said: str
    """The check in the words of its source."""
    commands: tuple[str, ...] = ()
    """Commands that carry the check out there."""


class SuggestedCheck(Value):
    """A check that most comparable pages or tickets have; it is not a step and is never run."""

    text: str
    have: int
    """Number of comparable pages or tickets that have the check, out of `of`."""
    of: int
    sources: tuple[CheckSource, ...]


class Suggestions(Value):
    """Suggested checks from one kind of comparison."""

    checks: tuple[SuggestedCheck, ...] = ()
    """Checks, the most frequent first; five at most."""
    others: int = 0
    why_none: str = ""
    """Reason why there is no check; empty if there is one."""


class Completeness(Value):
    """Suggested checks for the workflow that a ticket shows, or for a page."""

    workflow_id: str = ""
    """Id of the workflow; empty for a page."""
    pages: Suggestions
    """Checks of other pages that treat the same kind of fault."""
    tickets: Suggestions
    """Checks that people made on past tickets of the same alert, or that this page answered."""


class CompletenessChecks(Protocol):
    """Finder of checks that comparable pages and tickets have."""

    def of_ticket(self, ticket_id: str) -> Completeness:
        """Compute the suggestions for the workflow that a ticket shows.

        Raises:
            NotFoundError: No such ticket, or it shows no workflow.
            UnavailableError: Retrieval did not answer.
        """

    def of_page(self, page: ReadingDetail) -> Completeness:
        """Compute the suggestions for all procedures that are read from a page.

        Raises:
            UnavailableError: Retrieval did not answer.
        """
