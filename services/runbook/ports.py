"""Ports of the stores of readings, boxes, prepared scores and answers, and their values."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from services.kit.errors import ConflictError, NotFoundError
from services.kit.value import Value
from services.runbook.model import Procedure, Reader, Reading, as_json


class ReadingNotFoundError(NotFoundError):
    """No reader has read a text with this hash."""


class ProcedureNotFoundError(NotFoundError):
    """The reading has no procedure at this place."""


class NothingToUndoError(ConflictError):
    """No change by a person is left that could be undone."""


class UnseenDoubtsError(ConflictError):
    """A procedure has open doubts that its approver has not seen."""


class ReadingChangedError(ConflictError):
    """The served reading is no longer the one that the caller saw."""


class ReadingState(StrEnum):
    """The degree of trust in a procedure."""

    READ = "read"
    APPROVED = "approved"
    """Checked by a person."""


class ApprovalKind(StrEnum):
    """The part of a procedure that its approver has checked."""

    CHECKLIST = "checklist"
    """The boxes: each step is one of the page's. Decisions may be wrong or missing."""
    WORKFLOW = "workflow"
    """The boxes and the decisions: conditions, order and ends."""

    def includes(self, other: "ApprovalKind") -> bool:
        """Return True if this part has the other one in it."""
        return self is ApprovalKind.WORKFLOW or other is ApprovalKind.CHECKLIST


class Approval(Value):
    """The person who approved a procedure, the time, and the part that was checked."""

    by: str
    at: datetime
    kind: ApprovalKind = ApprovalKind.WORKFLOW


class ServedReading(Value):
    """The best reading of a text: approved > a person's > model > imported > composed."""

    reading: Reading
    approvals: tuple[Approval | None, ...] = ()
    """Approvals by the index of the procedure; missing ones are not approved."""
    was_approved: bool = False
    """True if an earlier text of the page was approved and this changed one is not."""

    @property
    def revision(self) -> str:
        """Hash that differs whenever something else is served."""
        approvals = [each.model_dump(mode="json") if each else None for each in self.approvals]
        state = json.dumps([as_json(self.reading), approvals], sort_keys=True)
        return hashlib.sha256(state.encode()).hexdigest()[:16]

    def state(self, place: int) -> ReadingState:
        """Return the state of the procedure at that index."""
        return ReadingState.APPROVED if self.kind(place) else ReadingState.READ

    def kind(self, place: int) -> ApprovalKind | None:
        """Return the kind of that procedure's approval; None if nobody has approved it."""
        approval = self.approvals[place] if place < len(self.approvals) else None
        return approval.kind if approval else None


UNREAD = ServedReading(reading=Reading(reader=Reader.PERSON))
"""State of a text that nobody has read."""


class ReadingSource(Protocol):
    """Lookup of readings: the part of the store that retrieval needs."""

    def served_many(self, text_hashes: Sequence[str]) -> dict[str, ServedReading]:
        """Return the served readings by text hash; texts without one are left out."""


class BoxSource(Protocol):
    """Lookup of box corrections: the part of the store that retrieval needs."""

    def corrections(self, document_ids: Sequence[str]) -> dict[str, dict[str, bool]]:
        """Return by document the corrected blocks: by key, True if a step.

        Most documents have none.
        """

    def habit(self) -> Mapping[str, float]:
        """Return the learned weights of the form of steps; empty as shipped."""


class MarkedBlock(Value):
    """A block of a page as it was when somebody corrected it."""

    words: str
    """The block's first words."""
    headings: tuple[str, ...] = ()
    """The headings above it, the outermost first."""
    line: int
    was_step: bool
    """True if it is a step without any correction."""


class BoxWord(Value):
    """A person's correction of a block of a page."""

    key: str
    """The block's key."""
    is_step: bool
    was_step: bool | None = None
    """True if its form made it a step until then; None if that was not kept."""
    words: str = ""
    """The block's first words; empty if they were not kept."""
    headings: tuple[str, ...] = ()
    who: str
    at: datetime


class BoxBefore(Value):
    """A block's correction before somebody changed it, for undoing."""

    document_id: str
    key: str
    word: BoxWord | None
    """The correction; None if there was none."""


class BoxStore(BoxSource, Protocol):
    """Store of people's corrections of blocks: that one is a step to tick off, or none."""

    def words(self, document_id: str) -> list[BoxWord]:
        """Return the corrections in force on a document, the latest first."""

    def put(
        self,
        document_id: str,
        key: str,
        *,
        is_step: bool | None,
        who: str,
        block: MarkedBlock | None = None,
    ) -> None:
        """Store a correction in place of an earlier one; None removes it.

        Each change is in the audit log, without the block's words. The same correction again
        changes nothing.
        """

    def forget(self, document_ids: Sequence[str]) -> None:
        """Delete all corrections of these documents."""


class Offer(Value):
    """A later reading's alternative to an approved procedure."""

    procedure: int
    """The index of the approved one in the served reading."""
    reader: Reader
    offered: Procedure


class ApprovedProcedure(Value):
    """A procedure as it was when a person approved it."""

    procedure: Procedure
    approval: Approval


class Happening(StrEnum):
    """The kinds of events in the history of a text's readings."""

    READ = "read"
    IMPORTED = "imported"
    ANSWERED = "answered"
    REPLACED = "replaced"
    APPROVED = "approved"
    UNDONE = "undone"
    DOUBTED = "doubted"
    """Doubted by an engineer on a ticket."""
    CARRIED_OVER = "carried over"
    FELL_BACK = "fell back"
    SET_ASIDE = "set aside"
    """A person's reading that was the rules' but for answers and edits, taken out of use."""
    BOX_CORRECTED = "box corrected"
    """A block marked as a step or as none by a person."""
    LEFT_OVER = "left over"
    """A part of a person's change to a reading by rules that no box can hold."""


class Event(Value):
    """One event in the history of a text's readings."""

    id: int
    at: datetime
    who: str
    what: Happening
    detail: str = ""
    is_undone: bool = False
    is_undoable: bool
    """True if it can be undone, once those after it are."""


class TextSummary(Value):
    """A text that is or was read, in numbers."""

    text_hash: str
    reader: Reader | None
    """The reader of what is served beside approved procedures; None if nothing is served."""
    procedures: int
    approved: int
    """The number of approved procedures."""
    checklists: int
    """The number of these that are approved as a checklist alone."""
    doubts: int
    was_approved: bool
    updated_at: datetime


class TextFilter(Value):
    """A filter of texts; a field at its default matches any."""

    state: ReadingState | None = None
    """`approved`: with an approved procedure; `read`: with one that is not, or with none."""
    reader: Reader | None = None
    doubts: bool | None = None


class TicketDoubt(Value):
    """A fault that an engineer found in a page while working on a ticket."""

    ticket: str
    step: str
    """The id of the step in the ticket's workflow."""
    node: str = ""
    """The node of the reading that the step came from."""
    text: str
    """The step as the page was read."""
    instead: str = ""
    """The engineer's own text for the step; empty if it was rejected."""
    word: str = ""
    """The reason."""
    by: str
    at: datetime


class ReadingStore(ReadingSource, Protocol):
    """Store of readings by text hash: the latest of each kind of reader, and approvals.

    Every write may be repeated. A change that a person makes from a reading names its `revision`,
    empty for any, and is refused by `ReadingChangedError` if another one is served.
    """

    def put(self, text_hash: str, reading: Reading, *, who: str = "", detail: str = "") -> None:
        """Store the reading of a reader that is no person, in place of its last one.

        Approved procedures are still served. `who` is given for an import only.
        """

    def replace(
        self,
        text_hash: str,
        reading: Reading,
        *,
        who: str,
        what: Happening,
        detail: str = "",
        boxes: Sequence[BoxBefore] = (),
        revision: str = "",
    ) -> None:
        """Store a person's reading; approvals of procedures not in it are withdrawn.

        `boxes` are corrections that changed with it, as they were, which undoing brings back.
        """

    def note_boxes(
        self, text_hash: str, boxes: Sequence[BoxBefore], *, who: str, detail: str
    ) -> None:
        """Note that blocks were corrected, with the corrections before, for undoing."""

    def approve(
        self,
        text_hash: str,
        procedures: Iterable[Procedure],
        *,
        who: str,
        kind: ApprovalKind = ApprovalKind.WORKFLOW,
        revision: str = "",
    ) -> None:
        """Note that a person has checked these procedures; each replaces what it covers.

        Raises:
            ReadingNotFoundError: Nobody has read the text.
        """

    def undo(self, text_hash: str, *, who: str, event: int | None = None) -> Event:
        """Undo the last change by a person that is not undone yet, and return it.

        Raises:
            ReadingNotFoundError: Nobody has read the text.
            ReadingChangedError: Its id is not that of the `event` that was meant.
            NothingToUndoError: There is nothing.
        """

    def answer_question(
        self,
        text_hash: str,
        question: str,
        block: str,
        *,
        who: str,
        detail: str,
        doubt: str = "",
        revision: str = "",
    ) -> None:
        """Note that a person answered a question: what stands at its block is right.

        The reading's `doubt` that it asked about is settled.
        """

    def answered_questions(self, text_hash: str) -> dict[str, str]:
        """Return the blocks of the answered questions of a text, by their ids."""

    def carry_answers(self, text_hash: str, answered: Mapping[str, str]) -> None:
        """Note which answers an earlier text hands on: blocks by the ids of their questions."""

    def carry_over(
        self,
        text_hash: str,
        carried: Sequence[ApprovedProcedure],
        *,
        lost: Sequence[str],
        reading: Reading | None = None,
        is_changed: bool = False,
    ) -> bool:
        """Note what an earlier text hands on: approved procedures, and titles of lost ones.

        The `reading` of procedures that nobody has approved is kept unless the text was read
        before. `is_changed` marks a text that lost procedures which nobody had approved. Returns
        False if all this was noted before.
        """

    def doubt(self, text_hash: str, doubt: TicketDoubt) -> None:
        """Store a ticket's doubt, open until a person settles it; served with the reading.

        The same doubt again changes nothing, settled or not; a different one about the same step is
        open anew.

        Raises:
            ReadingNotFoundError: Nobody has read the text.
        """

    def withdraw(self, tickets: Collection[str], step: str = "") -> None:
        """Withdraw the doubts of these tickets, about one step or about all."""

    def served(self, text_hash: str) -> ServedReading | None:
        """Return the best reading of the text; None if nobody has read it."""

    def unedited(self, text_hash: str) -> Reading | None:
        """Return the best reading that is no person's; None if there is none."""

    def offers(self, text_hash: str) -> list[Offer]:
        """Return later readings' alternatives to the approved procedures."""

    def approved(self, text_hash: str) -> list[ApprovedProcedure]:
        """Return the approved procedures of the text."""

    def history(self, text_hash: str) -> list[Event]:
        """Return the events of the text's readings, the latest first."""

    def summaries(self, text_hashes: Sequence[str]) -> dict[str, TextSummary]:
        """Return summaries of those texts that are or were read, by their hashes."""

    def list_texts(self, filters: TextFilter) -> list[TextSummary]:
        """Return the texts that match the filter, in the order of their hashes."""

    def made_by(self, reader: Reader, version: str, model: str = "") -> set[str]:
        """Return the hashes of texts read by this reader with this version and model."""

    def drop(self, text_hashes: Sequence[str]) -> None:
        """Delete what belongs to texts that nobody has read; other texts stay.

        Texts with a person's reading that was set aside stay as well.
        """

    def delete(self, text_hashes: Sequence[str]) -> int:
        """Delete everything about these texts; return the number of approved procedures."""


class JudgedAnswer(NamedTuple):
    """A model's answer about lines of a text."""

    text_hash: str
    chances: tuple[float, ...]
    """Chances of the options; empty if the model contradicted itself."""


class PreparedStore(Protocol):
    """Store of scores that depend on a page alone, computed once for all tickets.

    A key stands for everything that a record depends on: workflow, text, approvals and version. So
    no record is ever out of date; one that is no longer used goes when its text is prepared again.
    """

    def get_many(self, keys: Collection[str]) -> dict[str, str]:
        """Return the stored ones of these records, by key."""

    def keep(self, text_hash: str, version: str, records: Mapping[str, str]) -> None:
        """Store records of this text by key, in place of earlier ones."""

    def waiting(self, version: str | None, most: int) -> dict[str, datetime]:
        """Return texts to prepare, with the time since which they are read as they are.

        Those that this version has not prepared; without a version, that none has. At most `most`.
        """

    def done(self, text_hash: str, version: str, seen_at: datetime, keys: Collection[str]) -> None:
        """Note that a text is prepared, unless it was read anew since `seen_at`.

        Of its records only those with these keys stay.
        """


class AnswerStore(Protocol):
    """Store of a model's answers about lines of texts, so that the next ticket need not ask again.

    A key stands for everything that an answer depends on: lines, question, options, prompt and
    model.
    """

    def get_many(self, keys: Collection[str]) -> dict[str, JudgedAnswer]:
        """Return the stored ones of these answers, by key."""

    def keep(self, answers: Mapping[str, JudgedAnswer]) -> None:
        """Store answers by key, in place of earlier ones."""
