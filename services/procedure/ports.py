"""What is served of the readings, and the port of the store that keeps them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from services.kit.errors import ConflictError, NotFoundError
from services.kit.value import Value
from services.procedure.model import Procedure, Reader, Reading


class ReadingNotFoundError(NotFoundError):
    """Nobody has read a text of this hash."""


class ProcedureNotFoundError(NotFoundError):
    """The reading has no procedure at this place."""


class NothingToUndoError(ConflictError):
    """No person has changed anything here that is not undone already."""


class UnseenDoubtsError(ConflictError):
    """A procedure has open doubts that its approver has not seen."""


class ReadingChangedError(ConflictError):
    """What is served is no longer what the caller saw."""


class ReadingState(StrEnum):
    """How far a procedure is to be trusted."""

    READ = "read"
    APPROVED = "approved"
    """A person has checked it."""


class Approval(Value):
    """Who vouches for a procedure, since when."""

    by: str
    at: datetime


class ServedReading(Value):
    """The best reading of a text: approved > a person's > model > imported > composed."""

    reading: Reading
    approvals: tuple[Approval | None, ...] = ()
    """By the place of the procedure; missing ones are not approved."""
    was_approved: bool = False
    """Whether an earlier text of the page was approved and this one is not: it has changed."""

    def state(self, place: int) -> ReadingState:
        """Of the procedure at that place."""
        approved = place < len(self.approvals) and self.approvals[place] is not None
        return ReadingState.APPROVED if approved else ReadingState.READ


class ReadingSource(Protocol):
    """Where readings are looked up: all that retrieval needs of the store."""

    def served_many(self, text_hashes: Sequence[str]) -> dict[str, ServedReading]:
        """By text hash; texts that nobody has read are left out."""


class BoxSource(Protocol):
    """Where people's words on boxes are looked up: all that retrieval needs of the store."""

    def corrections(self, document_ids: Sequence[str]) -> dict[str, dict[str, bool]]:
        """Return by document whether a block is a step, by its key; most documents have none."""

    def habit(self) -> Mapping[str, float]:
        """Return what people's words taught of the form of steps; nothing as shipped."""


class MarkedBlock(Value):
    """A block of a page as it stood there when somebody spoke of it."""

    words: str
    """Its first ones."""
    headings: tuple[str, ...] = ()
    """Those that it stands below, the outermost first."""
    line: int
    was_step: bool
    """Whether it is a step where nobody says otherwise."""


class BoxWord(Value):
    """Somebody's word on a block of a page."""

    key: str
    """Of the block."""
    is_step: bool
    was_step: bool | None = None
    """Whether its form made it a step until then; None where that was not kept."""
    words: str = ""
    """The block's first ones; empty where they were not kept."""
    headings: tuple[str, ...] = ()
    who: str
    at: datetime


class BoxStore(BoxSource, Protocol):
    """What people say of the blocks of pages: that one is a step to tick off, or none."""

    def words(self, document_id: str) -> list[BoxWord]:
        """Return the words in force on a document, the latest first."""

    def put(
        self,
        document_id: str,
        key: str,
        *,
        is_step: bool | None,
        who: str,
        block: MarkedBlock | None = None,
    ) -> None:
        """Keep somebody's word in the place of an earlier one; None takes it back.

        Each change is in the audit log, without the block's words. The same word again changes
        nothing.
        """

    def forget(self, document_ids: Sequence[str]) -> None:
        """Forget all words on these documents."""


class Offer(Value):
    """What a later reading says in the place of an approved procedure."""

    procedure: int
    """Place of the approved one in what is served."""
    reader: Reader
    offered: Procedure


class ApprovedProcedure(Value):
    """A procedure as it was when a person approved it."""

    procedure: Procedure
    approval: Approval


class Happening(StrEnum):
    """What can happen to the readings of a text."""

    READ = "read"
    IMPORTED = "imported"
    ANSWERED = "answered"
    REPLACED = "replaced"
    APPROVED = "approved"
    UNDONE = "undone"
    DOUBTED = "doubted"
    """On a ticket."""
    CARRIED_OVER = "carried over"
    FELL_BACK = "fell back"
    SET_ASIDE = "set aside"
    """A person's reading, since it was the rules' but for answers and edits."""
    BOX_CORRECTED = "box corrected"
    """By what a person said of a reading by rules."""
    LEFT_OVER = "left over"
    """What a person said of a reading by rules, and no box can hold."""


class Event(Value):
    """One thing that happened."""

    at: datetime
    who: str
    what: Happening
    detail: str = ""
    is_undone: bool = False


class KnownText(Value):
    """A text that is or was read, in numbers."""

    text_hash: str
    reader: Reader | None
    """Who read what is served beside the approved procedures; None where nothing is served."""
    procedures: int
    approved: int
    """Of the procedures."""
    doubts: int
    was_approved: bool
    updated_at: datetime


class Wanted(Value):
    """Which texts to list; a field at its default wants any."""

    state: ReadingState | None = None
    """`approved`: with an approved procedure; `read`: with one that is not, or with none."""
    reader: Reader | None = None
    doubts: bool | None = None


class TicketDoubt(Value):
    """What an engineer found wrong of a page while they worked on a ticket."""

    ticket: str
    step: str
    """The id of the step in the ticket's workflow."""
    node: str = ""
    """The node of the reading that the step came from."""
    text: str
    """The step as the page was read."""
    instead: str = ""
    """What they wrote in its place; empty where they rejected it."""
    word: str = ""
    """Why."""
    by: str
    at: datetime


class ReadingStore(ReadingSource, Protocol):
    """Readings by the hash of their text: of each kind of reader the latest, and what was approved.

    Whatever is written may be written again.
    """

    def put(self, text_hash: str, reading: Reading, *, who: str = "", detail: str = "") -> None:
        """Keep what a reader that is no person made of a text, in the place of its last reading.

        What is approved stays what is served. `who` is told for an import only.
        """

    def replace(
        self, text_hash: str, reading: Reading, *, who: str, what: Happening, detail: str = ""
    ) -> None:
        """Keep a person's reading of the text; approvals of procedures not in it are withdrawn."""

    def approve(self, text_hash: str, procedures: Iterable[Procedure], *, who: str) -> None:
        """Note that a person has checked these procedures; each takes the place of what it covers.

        Raises:
            ReadingNotFoundError: Nobody has read the text.
        """

    def undo(self, text_hash: str, *, who: str) -> Event:
        """Take back the last thing that a person did and that is not undone; returns it.

        Raises:
            ReadingNotFoundError: Nobody has read the text.
            NothingToUndoError: There is nothing.
        """

    def carry_over(
        self, text_hash: str, carried: Sequence[ApprovedProcedure], *, lost: Sequence[str]
    ) -> bool:
        """Note what an earlier text hands on: approved procedures, and titles of those it lost.

        Returns False where this was noted before.
        """

    def doubt(self, text_hash: str, doubt: TicketDoubt) -> None:
        """Keep what a ticket finds wrong, open until a person settles it; served with the reading.

        The same again changes nothing, settled or not; of the same step otherwise, it is open anew.

        Raises:
            ReadingNotFoundError: Nobody has read the text.
        """

    def withdraw(self, tickets: Collection[str], step: str = "") -> None:
        """Take back what these tickets found wrong, of one step or of all."""

    def served(self, text_hash: str) -> ServedReading | None:
        """The best reading of the text; None when nobody has read it."""

    def offers(self, text_hash: str) -> list[Offer]:
        """What readings made after an approval say in the place of the approved procedures."""

    def approved(self, text_hash: str) -> list[ApprovedProcedure]:
        """What is approved of the text."""

    def history(self, text_hash: str) -> list[Event]:
        """What happened to the text's readings, the latest first."""

    def known(self, text_hashes: Sequence[str]) -> dict[str, KnownText]:
        """Those of the texts that something is known of, by their hashes."""

    def wanted(self, wanted: Wanted) -> list[KnownText]:
        """The texts that are wanted, in the order of their hashes."""

    def made_by(self, reader: Reader, version: str, model: str = "") -> set[str]:
        """Hashes of the texts whose reading by this reader is of this version and model."""

    def drop(self, text_hashes: Sequence[str]) -> None:
        """Forget what hangs on texts that nobody has read; others stay.

        So do those of which a person's reading was set aside.
        """

    def delete(self, text_hashes: Sequence[str]) -> int:
        """Forget all about these texts. Returns how many approved procedures went with them."""


class JudgedAnswer(NamedTuple):
    """What a model said about lines of a text."""

    text_hash: str
    chances: tuple[float, ...]
    """Of the options; none where the model contradicted itself."""


class PreparedStore(Protocol):
    """What hangs on a page alone, computed once for all tickets.

    A key stands for all that a record depends on: workflow, text, approvals and version. So none
    is ever out of date; one that nobody asks for any more goes when its text is prepared again.
    """

    def known(self, keys: Collection[str]) -> dict[str, str]:
        """Records by key, those that are kept."""

    def keep(self, text_hash: str, version: str, records: Mapping[str, str]) -> None:
        """Keep records of this text by key, in the place of earlier ones."""

    def waiting(self, version: str | None, most: int) -> dict[str, datetime]:
        """Texts that this version has not prepared as they are read now, and since when they are.

        Without a version those that none has; at most `most`.
        """

    def done(self, text_hash: str, version: str, seen_at: datetime, keys: Collection[str]) -> None:
        """Note that a text is prepared, unless it was read anew since `seen_at`.

        Of its records those with these keys stay.
        """


class AnswerStore(Protocol):
    """Answers of a model about lines of texts, so that the next ticket does not ask again.

    A key stands for all that an answer depends on: lines, question, options, prompt and model.
    """

    def known(self, keys: Collection[str]) -> dict[str, JudgedAnswer]:
        """By key, those that are kept."""

    def keep(self, answers: Mapping[str, JudgedAnswer]) -> None:
        """Keep answers by key, in the place of earlier ones."""
