"""The verdict on a workflow, in the same words everywhere."""

from abc import abstractmethod
from enum import StrEnum

from pydantic import computed_field

from services.contracts.ticket import Fit, TicketStatus
from services.kit.value import Value
from services.workflow.model import WorkflowKind


class Verdict(StrEnum):
    """Trust that the reader of a workflow may place in it, first of all in its page."""

    CHECKED = "checked"
    """The page surely fits, and each step's own procedure was approved as a workflow when it was
    planned.
    """
    UNCHECKED = "unchecked"
    """The page surely fits."""
    CLOSEST = "closest"
    """No page surely fits."""
    NOTHING = "nothing"
    """No workflow: no page comes near."""

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        return _WORDS[self]


_WORDS = {
    Verdict.CHECKED: "checked by a person",
    Verdict.UNCHECKED: "read by machine, nobody has checked it",
    Verdict.CLOSEST: "closest known page, not sure that it is the one",
    Verdict.NOTHING: "nothing known fits",
}
PAGE_AS_IT_IS = "your team's page as it is; nobody has checked its decisions"
"""Wording for a checklist whose page surely fits."""
BOXES_CHECKED = "its boxes were checked by a person, its decisions were not"
"""Wording for what a person has approved as a checklist alone."""


class Judged(Value):
    """The verdict on a workflow, or on a ticket with the workflow that it shows."""

    fit: Fit | None = None
    """Confidence that its procedure is the right one for the ticket; None without a workflow."""
    is_checked: bool = False
    """True if a person had approved each step's own procedure as a workflow when it was planned."""
    has_checked_boxes: bool = False
    """True if a person had approved at least the boxes of each when it was planned."""
    conditions: int = 0
    """Number of judged conditions of the workflow: questions, and conditions of steps and ends."""
    doubtful: int = 0
    """Number of these that are marked as not sure."""
    page_origin: str = ""
    """Origin of a page that the workflow follows, if it was not written by hand."""
    kind: WorkflowKind = WorkflowKind.PROCEDURE
    """Kind of the workflow; `procedure` if there is none."""

    @property
    @abstractmethod
    def editor(self) -> str:
        """Person who edited the workflow on its ticket; an edited one is not a checked page."""

    @property
    @abstractmethod
    def is_refused(self) -> bool:
        """True if no known procedure fits the ticket."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None while there is none: the walk is not over, or failed."""
        if self.fit is Fit.SURE:
            is_checked = self.is_checked and not self.editor
            return Verdict.CHECKED if is_checked else Verdict.UNCHECKED
        if self.fit is Fit.UNSURE:
            return Verdict.CLOSEST
        return Verdict.NOTHING if self.is_refused else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict_words(self) -> str:
        """The verdict as people read it; empty if there is none."""
        if self.verdict is None:
            return ""
        text = self.verdict.words
        is_page = self.kind is WorkflowKind.CHECKLIST
        if self.verdict is Verdict.UNCHECKED and self.has_checked_boxes:
            text = f"your team's page as it is; {BOXES_CHECKED}" if is_page else BOXES_CHECKED
        elif self.verdict is Verdict.UNCHECKED and is_page:
            text = PAGE_AS_IT_IS
        if self.doubtful and self.verdict is Verdict.UNCHECKED and not self.is_checked:
            are = "is" if self.doubtful == 1 else "are"
            text += f": {self.doubtful} of {self.conditions} conditions {are} doubtful"
        if self.is_checked and self.editor and self.verdict is Verdict.UNCHECKED:
            text = "its page was checked by a person"
        if self.is_checked and self.verdict is Verdict.CLOSEST:
            text += "; its page was checked"
        elif self.has_checked_boxes and self.verdict is Verdict.CLOSEST:
            text += "; its boxes were checked"
        if self.page_origin and self.fit is not None:
            text += f"; {self.page_origin}"
        return f"{text}; changed here by {self.editor}" if self.editor else text


class JudgedWorkflow(Judged):
    """A workflow with its verdict."""

    fit: Fit = Fit.SURE
    """Confidence that its procedure is the right one for the ticket."""
    author: str = ""
    """Person who edited this version; empty for a candidate."""

    @property
    def editor(self) -> str:
        """The workflow's author."""
        return self.author

    @property
    def is_refused(self) -> bool:
        """False: there is a workflow."""
        return False


class JudgedTicket(Judged):
    """A ticket, with the verdict on the workflow that it shows."""

    status: TicketStatus | None = None
    edited_by: str = ""
    """Author of the version of the workflow that it shows."""

    @property
    def editor(self) -> str:
        """Author of the version that it shows."""
        return self.edited_by

    @property
    def is_refused(self) -> bool:
        """True if no known procedure fitted the ticket on its last walk."""
        return self.status in {TicketStatus.REFUSED, TicketStatus.HANDED_OVER}
