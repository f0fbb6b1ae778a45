"""The verdict on a workflow, in the same words wherever it is told."""

from abc import abstractmethod
from enum import StrEnum

from pydantic import computed_field

from services.contracts.ticket import Fit, TicketStatus
from services.kit.value import Value
from services.workflow.model import WorkflowKind


class Verdict(StrEnum):
    """What whoever follows a workflow may rely on; whether its page is the one comes first."""

    CHECKED = "checked"
    """Its page surely fits, and each step's own procedure was approved when it was planned."""
    UNCHECKED = "unchecked"
    """Its page surely fits."""
    CLOSEST = "closest"
    """No page surely fits."""
    NOTHING = "nothing"
    """There is no workflow, since no page comes near."""

    @property
    def words(self) -> str:
        """As people are told."""
        return _WORDS[self]


_WORDS = {
    Verdict.CHECKED: "checked by a person",
    Verdict.UNCHECKED: "read by machine, nobody has checked it",
    Verdict.CLOSEST: "closest known page, not sure that it is the one",
    Verdict.NOTHING: "nothing known fits",
}
PAGE_AS_IT_IS = "your team's page as it is; nobody has checked its decisions"
"""Of a checklist whose page surely fits."""


class Judged(Value):
    """A workflow, or a ticket with the one that it shows, and the verdict on it."""

    fit: Fit | None = None
    """How surely its procedure is the one for the ticket; None without a workflow."""
    is_checked: bool = False
    """Whether each step's own procedure was approved by a person when it was planned."""
    conditions: int = 0
    """How many steps of the workflow were judged: what is asked, and under what something is done
    or ends."""
    doubtful: int = 0
    """Of these, those that are marked as not sure."""
    page_origin: str = ""
    """How a page that the workflow follows came about, where nobody wrote it by hand."""
    kind: WorkflowKind = WorkflowKind.PROCEDURE
    """Of the workflow; that of a procedure where there is none."""

    @property
    @abstractmethod
    def editor(self) -> str:
        """Who has changed the workflow on its ticket; a change by hand is no checked page."""

    @property
    @abstractmethod
    def is_refused(self) -> bool:
        """Whether nothing known fits the ticket."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Verdict | None:
        """None while there is none: the walk is not over, or broke."""
        if self.fit is Fit.SURE:
            is_checked = self.is_checked and not self.editor
            return Verdict.CHECKED if is_checked else Verdict.UNCHECKED
        if self.fit is Fit.UNSURE:
            return Verdict.CLOSEST
        return Verdict.NOTHING if self.is_refused else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict_words(self) -> str:
        """The same as people are told; empty where there is none."""
        if self.verdict is None:
            return ""
        told = self.verdict.words
        if self.kind is WorkflowKind.CHECKLIST and self.verdict is Verdict.UNCHECKED:
            told = PAGE_AS_IT_IS
        if self.doubtful and self.verdict is Verdict.UNCHECKED and not self.is_checked:
            are = "is" if self.doubtful == 1 else "are"
            told += f": {self.doubtful} of {self.conditions} conditions {are} doubtful"
        if self.is_checked and self.editor and self.verdict is Verdict.UNCHECKED:
            told = "its page was checked by a person"
        if self.is_checked and self.verdict is Verdict.CLOSEST:
            told += "; its page was checked"
        if self.page_origin and self.fit is not None:
            told += f"; {self.page_origin}"
        return f"{told}; changed here by {self.editor}" if self.editor else told


class JudgedWorkflow(Judged):
    """A workflow."""

    fit: Fit = Fit.SURE
    """How surely its procedure is the one for the ticket."""
    author: str = ""
    """Of a version: who edited it."""

    @property
    def editor(self) -> str:
        """Its author."""
        return self.author

    @property
    def is_refused(self) -> bool:
        """Never: there is a workflow."""
        return False


class JudgedTicket(Judged):
    """A ticket, with the verdict on the workflow that it shows."""

    status: TicketStatus | None = None
    edited_by: str = ""
    """Who made the version of the workflow that it shows."""

    @property
    def editor(self) -> str:
        """Of the version that it shows."""
        return self.edited_by

    @property
    def is_refused(self) -> bool:
        """Whether nothing known fitted it when it was last walked."""
        return self.status in {TicketStatus.REFUSED, TicketStatus.HANDED_OVER}
