"""Readings: the procedures that pages describe, their readers and their approvals."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from enum import StrEnum
from io import BytesIO
from typing import Annotated, Any, Protocol
from urllib.parse import quote

from pydantic import ConfigDict, Field, PlainSerializer, StrictBool, WithJsonSchema

from services.contracts.client import ContractClient, route
from services.kit.value import Value
from services.runbook.editing.block_edits import BlockEdit, PageQuestion
from services.runbook.editing.consequences import Consequences
from services.runbook.editing.difference import Difference
from services.runbook.editing.operations import MOST_OPERATIONS, Operation
from services.runbook.model import Procedure, Reader, Reading, as_json
from services.runbook.ports import (
    ApprovalKind,
    BoxWord,
    Event,
    ReadingState,
    TicketDoubt,
)
from services.workflow.effects.effect import EffectLevel


def _to_notation(noun: Reading | Procedure) -> dict[str, Any]:
    return as_json(noun)


ShortReading = Annotated[Reading, PlainSerializer(_to_notation)]
"""A reading in the notation that is stored, exported and edited."""
ShortProcedure = Annotated[Procedure, PlainSerializer(_to_notation)]
_ANY_OBJECT = WithJsonSchema({"type": "object"}, mode="validation")
"""Schema of any object: schema-based test tools take minutes to draw from a recursive schema."""
SubmittedReading = Annotated[Reading, PlainSerializer(_to_notation), _ANY_OBJECT]
"""A reading that a client sends; see docs/reference/procedures.md."""
SubmittedProcedure = Annotated[Procedure, PlainSerializer(_to_notation), _ANY_OBJECT]


class ReadingQuery(Value):
    """Filter for readings; a field at its default does not restrict it."""

    state: ReadingState | None = None
    """State of the page: `approved`: with an approved procedure; `read`: with one that is not
    approved.
    """
    reader: Reader | None = None
    doubts: bool | None = None
    document: str = ""
    """Id of one document."""
    after: str = ""
    """The text hash after which the list begins."""
    limit: int = Field(default=100, ge=1, le=1000)


class ReadingSummary(Value):
    """One page's reading, in numbers."""

    text_hash: str
    documents: tuple[str, ...]
    """Ids of the documents that have this text."""
    reader: Reader | None
    """Reader of what is not approved; None if nobody has read the page."""
    state: ReadingState
    """State of the reading; `approved` if each of its procedures is."""
    procedures: int
    approved: int
    checklists: int = 0
    """Number of the approved procedures of which no more than the boxes are approved."""
    doubts: int
    was_approved: bool
    """True if an earlier text of the page was approved and this one is not: the page has
    changed.
    """
    updated_at: datetime


class PageState(StrEnum):
    """Review state of a page."""

    CHANGED = "changed"
    """An earlier text of the page was approved, and this one is not."""
    UNREAD = "unread"
    """No reader has read the page; it is shown as it is."""
    READ = "read"
    CHECKLIST = "checklist"
    """Approved, but of some procedure no more than the boxes."""
    APPROVED = "approved"


APPROVED_STATES = (PageState.CHECKLIST, PageState.APPROVED)


class PageUse(Value):
    """Number of recent tickets that a page had a part in."""

    answered: int = Field(default=0, ge=0)
    """Tickets that show a workflow of the page."""
    near: int = Field(default=0, ge=0)
    """Other tickets that it came near: as one of the pages to choose from, or the nearest of none
    that fits.
    """


class ReviewRequest(Value):
    """Request to the owner of a page to check it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str = Field(max_length=1024)
    due: date | None
    """Last day for it; null withdraws the request."""


class PageReview(Value):
    """A review that the owner of a page was asked for and has not done yet."""

    document_id: str
    title: str
    text_hash: str
    """Hash of the page's text, by which its reading is shown."""
    team: str
    """Owner of the page."""
    due: date
    by: str
    """Person who requested it."""
    at: datetime

    @property
    def path(self) -> str:
        """Path of the page where it is checked."""
        return f"/knowledge/readings/{self.text_hash}"


class WaitingQuery(Value):
    """Filter for pages to review, with the recent tickets of each document."""

    uses: dict[str, PageUse] = Field(default={}, max_length=10_000)
    """Recent tickets, by document id."""
    documents: tuple[str, ...] = Field(default=(), max_length=10_000)
    """Ids of documents; none for all."""
    state: PageState | None = None
    reader: Reader | None = None
    doubts: bool | None = None
    owner: str = Field(default="", max_length=200)
    text: str = Field(default="", max_length=200)
    """Text to find in id and title, ignoring case."""
    start: int = Field(default=0, ge=0)
    """Number of first pages to skip."""
    limit: int = Field(default=50, ge=1, le=1000)


class WaitingReading(ReadingSummary):
    """A page in the review list."""

    title: str
    owner: str
    use: PageUse
    harm: EffectLevel | None
    """Effect of its most severe command; None if it has none, or was not looked at yet."""
    urgency: int
    """Benefit of a check: tickets that it answered count ten times as much as those that it came
    near, a quarter more if a command changes something, a half if one destroys. 0 if nothing is
    left to check.
    """
    review: PageReview | None
    """The review that its owner was asked for, the earliest of its documents."""
    page_state: PageState


class WaitingPage(Value):
    """A part of the review list: reviews requested of the chosen owner, then the most urgent."""

    readings: tuple[WaitingReading, ...]
    total: int
    """Number of all pages that match the query."""
    counts: dict[PageState, int]
    """Number of pages by state, regardless of the query."""


class ProcedureState(Value):
    """Approval state of one procedure."""

    title: str
    state: ReadingState
    kind: ApprovalKind | None = None
    """Part that was approved; null if nobody approved it."""
    by: str = ""
    at: datetime | None = None


class OfferedProcedure(Value):
    """A later reading's version of an approved procedure."""

    procedure: int
    """Index of the approved procedure."""
    reader: Reader
    offered: ShortProcedure


class ReadingDetail(ReadingSummary):
    """One page's reading beside its lines."""

    revision: str
    """Name of the revision served now; a change that names another one is refused."""
    reading: ShortReading
    states: tuple[ProcedureState, ...]
    """States of the procedures, by their index."""
    offers: tuple[OfferedProcedure, ...] = ()
    questions: tuple[PageQuestion, ...] = ()
    """Questions to the page's owner, the likeliest wrong first. An answer is the edit that it
    means, or, where it leaves the page as it is, an `answer_question`.
    """
    lines: tuple[str, ...] = ()
    """Lines of the text; none if no document has it any more."""
    changed_blocks: tuple[str, ...] | None = None
    """Keys of the page's blocks that the approved text before it did not have; None if no approval
    was lost by a change.
    """
    remarks: tuple[str, ...] = ()
    """Remarks on parts that were cut from a reading that was just sent."""


class ApprovalRequest(Value):
    """Request to approve a procedure."""

    procedure: int = Field(ge=0)
    """Index of the procedure in the served reading."""
    offered: bool = False
    """True to approve the later reading's version that is offered in its place."""
    kind: ApprovalKind | None = None
    """Part that the person has checked: `checklist` (its boxes) or `workflow` (its decisions too);
    null for `workflow`, or `checklist` for a procedure begun from the boxes of its page.
    """
    revision: str = ""
    """Revision that the person saw; empty for the one served now."""
    doubts: int | None = Field(default=None, ge=0)
    """Number of its open doubts that the person saw; None for any number."""


class AnswerRequest(Value):
    """Request to settle a doubt."""

    doubt: str
    answer: int = Field(ge=0)
    """Index of the answer among the doubt's answers."""
    revision: str = ""


class EditRequest(Value):
    """Operations on a procedure's nodes, applied in order, all or none.

    See `procedure.editing.operations`; nodes are named by the ids that the reading has.
    """

    procedure: int = Field(default=0, ge=0)
    """Index of the procedure in the served reading."""
    operations: tuple[Operation, ...] = Field(min_length=1, max_length=MOST_OPERATIONS)
    revision: str = ""
    """Revision that the person saw; empty for the one served now."""


class BlockEditRequest(Value):
    """Request to change a page's procedure at one of its blocks."""

    document: str = Field(default="", max_length=1024)
    """Id of the document whose boxes change with it; empty for the first one with the text."""
    procedure: int | None = Field(default=None, ge=0)
    """Index of the procedure in the served reading; null for that whose lines have the block."""
    edit: BlockEdit
    revision: str = ""
    """Revision that the person saw; empty for the one served now."""


class EditPreview(Value):
    """Result that an edit would have; nothing is stored."""

    revision: str
    """Revision that it was computed from, to be sent with the edit itself."""
    procedure: int
    reading: ShortReading
    """All procedures as they would be stored."""
    difference: Difference
    consequences: Consequences
    voids_approval: bool
    """True if the procedure is approved, which the edit would end."""
    remarks: tuple[str, ...] = ()
    """Remarks on parts that would be cut or marked, since the text does not contain them."""


class DoubtReport(TicketDoubt):
    """A fault of a page that an engineer found while working on a ticket."""

    document_id: str


class DoubtWithdrawal(Value):
    """Withdrawal of the doubts that tickets raised: they do not hold, or the tickets are gone."""

    tickets: tuple[str, ...] = Field(max_length=1000)
    step: str = ""
    """Step whose doubts are withdrawn; empty for all."""


class DoubtTaken(Value):
    """Result of a doubt report."""

    kept: bool


class ImportNote(Value):
    """A problem with one row of an import."""

    row: int
    """Number of the row, from 1."""
    text_hash: str = ""
    document: str = ""
    reason: str


class ImportReport(Value):
    """Result of an import."""

    rows: int = 0
    taken: int = 0
    """Number of readings that are stored now, those that were stored before included."""
    approved: int = 0
    """Number of procedures that the import approved."""
    without_procedure: int = 0
    """Number of taken readings whose pages describe no procedure."""
    marked: tuple[ImportNote, ...] = ()
    """Rows taken differently than sent: in part, or as unapproved though they claim an approval."""
    refused: tuple[ImportNote, ...] = ()
    """Rows that were refused; at most the first thousand notes."""


class BoxCorrection(Value):
    """An owner's correction of a block: whether it is a step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str = Field(max_length=1024)
    key: str = Field(max_length=40)
    """Key of the block, as a checklist's step names it in `node`, or of a list or heading."""
    is_step: StrictBool | None
    """True if the block is a step to tick off; null withdraws the correction."""


class KeptCorrection(BoxWord):
    """A correction of a block that is in force."""

    line: int | None = None
    """First line of the block; None if the page has no such block any more."""


class Readings(Protocol):
    """Readings of the ingested pages; changes are made in the caller's name.

    A `text_hash` may be the beginning of one that no other text has, a document's id, or the end of
    an id that no other document has; where several have it, `AmbiguousIdError` lists them.
    """

    def find(self, query: ReadingQuery) -> list[ReadingSummary]:
        """List the readings that match the query, in the order of their text hashes."""

    def summary(self, page: str) -> ReadingSummary:
        """Return a page's reading in numbers, by the page's text hash or document.

        Raises:
            NotFoundError: No text and no document is named so.
            ConflictError: Several are.
        """

    def waiting(self, query: WaitingQuery) -> WaitingPage:
        """List the pages that match the query, the most urgent ones first.

        With an owner, the reviews that it was asked for come before, the first due first.
        """

    def request_review(self, request: ReviewRequest) -> list[PageReview]:
        """Ask the owner of a page for a review in the caller's name; return the open ones of it.

        It replaces an earlier request for the page, and is over once the page is approved.

        Raises:
            NotFoundError: No document has this id.
            InvalidInputError: The day is over, or the page has no owner.
            ConflictError: The page is approved.
        """

    def reviews(self, *, owner: str = "") -> list[PageReview]:
        """List the reviews that owners, or one of them, were asked for, the first due first."""

    def get(self, text_hash: str) -> ReadingDetail:
        """Return the served reading of a text with its lines; only the lines if nobody has read it.

        Raises:
            NotFoundError: Nobody has read such a text, and no document has it.
        """

    def begin(self, text_hash: str) -> ReadingDetail:
        """Begin the caller's reading of a page that nobody has read, a step for each box.

        Until it is approved as a workflow no step of it changes anything.

        Raises:
            NotFoundError: No document has such a text.
            ConflictError: Somebody has read it.
        """

    def replace(self, text_hash: str, reading: Reading, *, revision: str = "") -> ReadingDetail:
        """Replace the served reading of a text by the caller's.

        Approvals of procedures that it leaves as they are hold.

        Raises:
            NotFoundError: No document has such a text.
            InvalidInputError: It is too large, or not of this text.
            ConflictError: Something else is served than the caller saw.
        """

    def preview(self, text_hash: str, edit: EditRequest) -> EditPreview:
        """Return the result that an edit would have; raises as `edit` does."""

    def edit(self, text_hash: str, edit: EditRequest) -> ReadingDetail:
        """Edit a procedure of the served reading and serve the result.

        The approval of that procedure ends, those of others hold. Raises as `replace` does, and
        `UnusableOperationError` (an `InvalidInputError`), which names the operation, from 0.
        """

    def preview_block(self, text_hash: str, request: BlockEditRequest) -> EditPreview:
        """Return the result that a change at a block would have; raises as `edit_block` does."""

    def edit_block(self, text_hash: str, request: BlockEditRequest) -> ReadingDetail:
        """Change a page's procedure at a block and serve the result.

        On a page that nobody has read a box is corrected, and any other change begins the reading
        from the boxes. On another page a change of a box is one of the reading and of the boxes.
        Raises as `edit` does.
        """

    def approve(self, text_hash: str, request: ApprovalRequest) -> ReadingDetail:
        """Approve a procedure; what an approval in force has in it already changes nothing.

        Raises as `get` and `replace` do, and `ConflictError` if no document has the text any more.
        """

    def answer(self, text_hash: str, request: AnswerRequest) -> ReadingDetail:
        """Settle a doubt; raises as `get` and `replace` do."""

    def answer_question(self, text_hash: str, question: str) -> ReadingDetail:
        """Note that what stands on the page at a question is right: nobody is asked it again.

        Raises:
            NotFoundError: No document has such a text.
            ConflictError: The page does not ask this, or no longer does.
        """

    def correct_box(self, correction: BoxCorrection) -> BoxCorrection:
        """Store the caller's statement whether a block of a page is a step.

        The key of a list stands for all its items, that of a heading for all up to the next one.
        It overrides the form of the block, as long as the block stays; a reading of the page
        changes with it, which ends the approval of its procedure. A statement on a block that is
        gone may still be withdrawn.

        Raises:
            NotFoundError: No document has this id, or its page no such block.
            UnusableOperationError: The reading of the page cannot change so.
        """

    def box_corrections(self, document_id: str) -> list[KeptCorrection]:
        """List the corrections of a page's blocks that are in force, the latest first.

        Raises:
            NotFoundError: No document has this id.
        """

    def undo(self, text_hash: str, *, event: int | None = None) -> ReadingDetail:
        """Undo the last thing that a person did to a text's readings.

        `event` is its id in the history, as the caller saw it.

        Raises:
            NotFoundError: Nobody has read such a text.
            ConflictError: There is nothing to take back, the last change is another one, or no
                document has the text any more.
        """

    def history(self, text_hash: str) -> list[Event]:
        """List the events of a text's readings, the latest first.

        Raises:
            NotFoundError: Nobody has read such a text.
        """

    def export(self, query: ReadingQuery) -> Iterator[str]:
        """Yield the served readings, one JSON line per text; ignores `limit` and `after`."""

    def import_lines(self, lines: Iterable[bytes], *, approve: bool) -> ImportReport:
        """Import lines that `export` wrote, as read, or as approved by the caller.

        What is approved of a line is the `kind` in it. Unusable rows are refused and reported;
        nothing that is approved is displaced.
        """


class ReadingsClient(ContractClient):
    """`Readings` in another process, over HTTP; the API key there identifies the caller."""

    find = route(Readings.find, "GET", "/v1/readings")
    summary = route(Readings.summary, "GET", "/v1/readings/summary")
    waiting = route(Readings.waiting, "POST", "/v1/readings/waiting")
    request_review = route(Readings.request_review, "POST", "/v1/readings/reviews")
    reviews = route(Readings.reviews, "GET", "/v1/readings/reviews")
    get = route(Readings.get, "GET", "/v1/readings/{text_hash}")
    begin = route(Readings.begin, "POST", "/v1/readings/{text_hash}/beginnings")

    def replace(self, text_hash: str, reading: Reading, *, revision: str = "") -> ReadingDetail:
        """See `Readings.replace`."""
        payload = self._client.put(
            f"/v1/readings/{quote(text_hash, '')}",
            {"procedures": [], **as_json(reading)},
            revision=revision,
        )
        return ReadingDetail.model_validate(payload)

    preview = route(Readings.preview, "POST", "/v1/readings/{text_hash}/previews")
    edit = route(Readings.edit, "POST", "/v1/readings/{text_hash}/edits")
    preview_block = route(Readings.preview_block, "POST", "/v1/readings/{text_hash}/block-previews")
    edit_block = route(Readings.edit_block, "POST", "/v1/readings/{text_hash}/block-edits")
    approve = route(Readings.approve, "POST", "/v1/readings/{text_hash}/approvals")
    answer = route(Readings.answer, "POST", "/v1/readings/{text_hash}/answers")
    answer_question = route(
        Readings.answer_question, "POST", "/v1/readings/{text_hash}/questions/{question}"
    )
    correct_box = route(Readings.correct_box, "POST", "/v1/readings/boxes")

    def box_corrections(self, document_id: str) -> list[KeptCorrection]:
        """See `Readings.box_corrections`."""
        rows = self._client.get("/v1/readings/boxes", document=document_id)
        return [KeptCorrection.model_validate(each) for each in rows]

    undo = route(Readings.undo, "POST", "/v1/readings/{text_hash}/undo")
    history = route(Readings.history, "GET", "/v1/readings/{text_hash}/history")

    def export(self, query: ReadingQuery) -> Iterator[str]:
        """See `Readings.export`."""
        text = self._client.get_text(
            "/v1/readings/export", **query.model_dump(mode="json", exclude_defaults=True)
        )
        yield from filter(None, text.split("\n"))

    def import_lines(self, lines: Iterable[bytes], *, approve: bool) -> ImportReport:
        """See `Readings.import_lines`."""
        content = BytesIO(b"".join(line.rstrip(b"\r\n") + b"\n" for line in lines))
        path = f"/v1/readings/import?approve={str(approve).lower()}"
        files = [("readings.jsonl", content)]
        return ImportReport.model_validate(self._client.post_files(path, "file", files))
