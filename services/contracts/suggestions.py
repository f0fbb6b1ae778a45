"""Suggested edits: changes to a page's procedure that engineers' work on tickets speaks for."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pydantic import ConfigDict, Field

from services.contracts.client import ContractClient, route
from services.kit.value import Value
from services.runbook.editing.block_edits import BlockEdit


class SuggestionKind(StrEnum):
    """Kind of work on tickets that a suggested edit rests on."""

    LEFT_ASIDE = "left_aside"
    """Engineers skipped the step, with a reason, on three tickets or more."""
    ADDED = "added"
    """An engineer added a step behind it."""
    ORDER = "order"
    """Engineers did it before a step above it, or behind one below, on three tickets or more."""
    NOTE = "note"
    """An engineer wrote a note at it."""


class SuggestionSource(Value):
    """Work on one ticket that an edit rests on."""

    ticket_id: str
    title: str
    """Title of the ticket."""
    by: str
    """Name of the engineer."""
    at: datetime
    text: str = ""
    """The reason, step or note in the engineer's words."""


class SuggestedEdit(Value):
    """A change to a page's procedure, with the work that it rests on."""

    key: str
    """Key of the suggestion: the same change to the same block has the same key."""
    kind: SuggestionKind
    document_id: str
    block: str
    """Key of the block that it stands at."""
    words: str
    """Words of that block."""
    text: str = ""
    """The step or note to be added; for an order the words of the other block."""
    sources: tuple[SuggestionSource, ...]
    """The latest first; 10 at most."""
    tickets: int
    """Number of all tickets that it rests on."""
    done: int = 0
    """Number of tickets on which a step left aside was done."""
    edit: BlockEdit | None
    """The edit that taking it over makes; None if its text addresses a language model, so that it
    can only be dismissed.
    """
    dismissed_by: str = ""
    """Person who dismissed it; empty if nobody has."""
    dismissed_at: datetime | None = None


class SuggestionChoice(Value):
    """Choice of a suggested edit, to take it over or to dismiss it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str = Field(max_length=1024)
    key: str = Field(max_length=40)
    revision: str = Field(default="", max_length=200)
    """Revision of the reading that the person saw; empty for the one served now."""


class SuggestedEdits(Protocol):
    """Edits that work on tickets suggests; what the page has by now is suggested no more."""

    def of_document(
        self, document_id: str, *, dismissed: bool = False
    ) -> tuple[SuggestedEdit, ...]:
        """List the suggested edits of a page in the order of its blocks; 200 at most.

        A dismissed one comes back once three further tickets speak for it. With `dismissed`, all
        are included.

        Raises:
            NotFoundError: No document has this id.
            UnavailableError: Ingestion did not answer.
        """

    def take_over(self, choice: SuggestionChoice) -> SuggestedEdit:
        """Make the edit in the caller's name and return it; undoing it there suggests it again.

        Raises:
            NotFoundError: There is no such suggestion, or not any more.
            InvalidInputError: It cannot be made, as its text addresses a language model.
            ForbiddenError: The caller alone has taught it, so that another one decides.
            ConflictError: Something else is served than the caller saw.
        """

    def dismiss(self, choice: SuggestionChoice) -> SuggestedEdit:
        """Dismiss a suggestion in the caller's name; raises `NotFoundError` as `take_over` does."""

    def restore(self, key: str) -> None:
        """Undo a dismissal; nothing happens if there is none."""


class SuggestedEditsClient(ContractClient):
    """`SuggestedEdits` in another process, over HTTP."""

    of_document = route(SuggestedEdits.of_document, "GET", "/v1/suggested-edits/{document_id:path}")
    take_over = route(SuggestedEdits.take_over, "POST", "/v1/suggested-edits/taken")
    dismiss = route(SuggestedEdits.dismiss, "POST", "/v1/suggested-edits/dismissals")
    restore = route(SuggestedEdits.restore, "DELETE", "/v1/suggested-edits/dismissals/{key}")
