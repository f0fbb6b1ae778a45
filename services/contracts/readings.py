"""Readings: what the pages tell to do, who read it, and what people made of it."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from io import BytesIO
from typing import Annotated, Any, Protocol
from urllib.parse import quote

from pydantic import ConfigDict, Field, PlainSerializer, StrictBool, WithJsonSchema

from services.kit.http.client import ServiceClient
from services.kit.value import Value
from services.procedure.editing.consequences import Consequences
from services.procedure.editing.difference import Difference
from services.procedure.editing.operations import MOST_OPERATIONS, Operation
from services.procedure.model import Procedure, Reader, Reading, as_json
from services.procedure.ports import BoxWord, Event, ReadingState, TicketDoubt


def _short(noun: Reading | Procedure) -> dict[str, Any]:
    return as_json(noun)


ShortReading = Annotated[Reading, PlainSerializer(_short)]
"""A reading in the notation that is stored, exported and edited."""
ShortProcedure = Annotated[Procedure, PlainSerializer(_short)]
_ANY_OBJECT = WithJsonSchema({"type": "object"}, mode="validation")
"""What is sent is described in words: a schema that holds itself is drawn from for minutes."""
GivenReading = Annotated[Reading, PlainSerializer(_short), _ANY_OBJECT]
"""A reading that is sent; see docs/reference/procedures.md."""
GivenProcedure = Annotated[Procedure, PlainSerializer(_short), _ANY_OBJECT]


class ReadingQuery(Value):
    """Which readings are asked for; a field at its default asks for any."""

    state: ReadingState | None = None
    """`approved`: pages with an approved procedure; `read`: those with one that is not."""
    reader: Reader | None = None
    doubts: bool | None = None
    document: str = ""
    """The id of one document."""
    after: str = ""
    """The text hash behind which the list begins."""
    limit: int = Field(default=100, ge=1, le=1000)


class ReadingSummary(Value):
    """One page's reading, in numbers."""

    text_hash: str
    documents: tuple[str, ...]
    """Ids of the documents that have this text."""
    reader: Reader | None
    """Who read what is not approved; None where nobody has read the page."""
    state: ReadingState
    """`approved` where each of its procedures is."""
    procedures: int
    approved: int
    doubts: int
    was_approved: bool
    """Whether an earlier text of the page was approved and this one is not: it has changed."""
    updated_at: datetime


class PageState(StrEnum):
    """Whether anything of a page waits for a person."""

    CHANGED = "changed"
    """An earlier text of it was approved, and this one is not."""
    UNREAD = "unread"
    """Nobody has read it: it is shown as it is."""
    READ = "read"
    APPROVED = "approved"


class WaitingQuery(Value):
    """Which pages are asked for, and how many alerts rested on each document of late."""

    alerts: dict[str, int] = Field(default={}, max_length=10_000)
    """By the id of the document."""
    state: PageState | None = None
    reader: Reader | None = None
    doubts: bool | None = None
    owner: str = Field(default="", max_length=200)
    text: str = Field(default="", max_length=200)
    """Looked for in id and title, whatever the case."""
    start: int = Field(default=0, ge=0)
    """How many of the most urgent are left out."""
    limit: int = Field(default=50, ge=1, le=1000)


class WaitingReading(ReadingSummary):
    """A page in the list of those to check."""

    title: str
    owner: str
    alerts: int
    urgency: int
    """Alerts times what waits: doubts and procedures that nobody approved, or the page itself
    where nobody has read it."""
    page_state: PageState


class WaitingPage(Value):
    """The most urgent pages first."""

    readings: tuple[WaitingReading, ...]
    total: int
    """Of all that are asked for."""
    counts: dict[PageState, int]
    """Of all pages by their state, whatever is asked for."""


class ProcedureState(Value):
    """How far one procedure is to be trusted."""

    title: str
    state: ReadingState
    by: str = ""
    at: datetime | None = None


class OfferedProcedure(Value):
    """What a later reading says in the place of an approved procedure."""

    procedure: int
    """Place of the approved one."""
    reader: Reader
    offered: ShortProcedure


class ReadingDetail(ReadingSummary):
    """One page's reading beside its lines."""

    revision: str
    """Names what is served now; a change that names another one is refused."""
    reading: ShortReading
    states: tuple[ProcedureState, ...]
    """By the place of the procedure."""
    offers: tuple[OfferedProcedure, ...] = ()
    lines: tuple[str, ...] = ()
    """Of the text; none where no document has it any more."""
    remarks: tuple[str, ...] = ()
    """What was cut of a reading that was just sent."""


class ApprovalRequest(Value):
    """A person vouches for a procedure."""

    procedure: int = Field(ge=0)
    """Its place in what is served."""
    offered: bool = False
    """Whether what a later reading offers in its place is meant."""
    revision: str = ""
    """What the person saw; empty for whatever is served now."""
    doubts: int | None = Field(default=None, ge=0)
    """How many open doubts of it the person saw; None for however many there are."""


class AnswerRequest(Value):
    """A person settles a doubt."""

    doubt: str
    answer: int = Field(ge=0)
    """Its place among the doubt's answers."""
    revision: str = ""


class EditRequest(Value):
    """A person changes a procedure by operations on its nodes, done in their order or not at all.

    See `procedure.editing.operations`; nodes are named by the ids that the reading has.
    """

    procedure: int = Field(default=0, ge=0)
    """Its place in what is served."""
    operations: tuple[Operation, ...] = Field(min_length=1, max_length=MOST_OPERATIONS)
    revision: str = ""
    """What the person saw; empty for whatever is served now."""


class EditPreview(Value):
    """What an edit would make of a reading; nothing is stored."""

    revision: str
    """What it was made of: to be sent with the edit itself."""
    procedure: int
    reading: ShortReading
    """All procedures as they would be stored."""
    difference: Difference
    consequences: Consequences
    voids_approval: bool
    """Whether the procedure is approved, which the edit ends."""
    remarks: tuple[str, ...] = ()
    """What would be cut or marked of the reading, since the text does not have it."""


class DoubtReport(TicketDoubt):
    """What an engineer found wrong of a page while they worked on a ticket."""

    document_id: str


class DoubtWithdrawal(Value):
    """What tickets found wrong does not hold, or they are gone."""

    tickets: tuple[str, ...] = Field(max_length=1000)
    step: str = ""
    """Of one step of theirs; of all where it is empty."""


class DoubtTaken(Value):
    """Whether a doubt is kept: not of a document that is unknown by now or that nobody has read."""

    kept: bool


class ImportNote(Value):
    """What was not as it should be with one row of an import."""

    row: int
    """From 1."""
    text_hash: str = ""
    document: str = ""
    reason: str


class ImportReport(Value):
    """What became of an import."""

    rows: int = 0
    taken: int = 0
    """Readings that are stored now, those that were stored before included."""
    approved: int = 0
    """Procedures that the import approved."""
    without_procedure: int = 0
    """Of those taken: pages that describe no procedure."""
    marked: tuple[ImportNote, ...] = ()
    """Taken otherwise than it was sent: in part, or as read though it claims to be approved."""
    refused: tuple[ImportNote, ...] = ()
    """Of very many notes, the first thousand."""


class BoxCorrection(Value):
    """An owner's word on a block of a page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str = Field(max_length=1024)
    key: str = Field(max_length=40)
    """Of the block, as a checklist's step names it in `node`."""
    is_step: StrictBool | None
    """Whether it is a step to tick off; null takes the word back."""


class KeptCorrection(BoxWord):
    """A word on a block that is in force."""

    line: int | None = None
    """Where the block begins; None where the page has no such block any more."""


class Readings(Protocol):
    """Readings of the ingested pages, for one caller, who is named in what they change."""

    def find(self, query: ReadingQuery) -> list[ReadingSummary]:
        """Those that are asked for, in the order of their text hashes."""

    def waiting(self, query: WaitingQuery) -> WaitingPage:
        """Pages that are asked for, by how urgently they wait for a person."""

    def get(self, text_hash: str) -> ReadingDetail:
        """What is served of a text, beside its lines; nothing but these where nobody has read it.

        Raises:
            NotFoundError: Nobody has read such a text, and no document has it.
        """

    def begin(self, text_hash: str) -> ReadingDetail:
        """Begin the caller's reading of a page that nobody has read, a step for each of its boxes.

        Until its owner has been asked for its decisions no step of it changes anything.

        Raises:
            NotFoundError: No document has such a text.
            ConflictError: Somebody has read it.
        """

    def replace(self, text_hash: str, reading: Reading, *, revision: str = "") -> ReadingDetail:
        """Put the caller's reading of a text in the place of what is served.

        Approvals of procedures that it leaves as they are hold.

        Raises:
            NotFoundError: No document has such a text.
            InvalidInputError: It is too large, or not of this text.
            ConflictError: Something else is served than the caller saw.
        """

    def preview(self, text_hash: str, edit: EditRequest) -> EditPreview:
        """What an edit would change, and what would come of it. Raises as `edit` does."""

    def edit(self, text_hash: str, edit: EditRequest) -> ReadingDetail:
        """Put the reading with a procedure edited in the place of what is served.

        The approval of that procedure ends, those of others hold. Raises as `replace` does, and
        `UnusableOperationError` (an `InvalidInputError`), which names the operation, from 0.
        """

    def approve(self, text_hash: str, request: ApprovalRequest) -> ReadingDetail:
        """Vouch for a procedure. Raises as `get` and `replace` do."""

    def answer(self, text_hash: str, request: AnswerRequest) -> ReadingDetail:
        """Settle a doubt. Raises as `get` and `replace` do."""

    def correct_box(self, correction: BoxCorrection) -> BoxCorrection:
        """Keep the caller's word on whether a block of a page is a step.

        It stands above what form or a model's reading says, as long as the block stays. A word on a
        block that is gone may still be taken back.

        Raises:
            NotFoundError: No document has this id, or its page no such block.
        """

    def box_corrections(self, document_id: str) -> list[KeptCorrection]:
        """List the words on blocks of a page that are in force, the latest first.

        Raises:
            NotFoundError: No document has this id.
        """

    def undo(self, text_hash: str) -> ReadingDetail:
        """Take back the last thing that a person did to a text's readings.

        Raises:
            NotFoundError: Nobody has read such a text.
            ConflictError: There is nothing to take back.
        """

    def history(self, text_hash: str) -> list[Event]:
        """What happened to a text's readings, the latest first.

        Raises:
            NotFoundError: Nobody has read such a text.
        """

    def export(self, query: ReadingQuery) -> Iterator[str]:
        """What is served, a JSON line for each text; `limit` and `after` do not apply."""

    def import_lines(self, lines: Iterable[bytes], *, approve: bool) -> ImportReport:
        """Take in lines as `export` gives them, as read, or approved by the caller.

        What cannot be used is refused and told; nothing that is approved is displaced.
        """


class ReadingsClient:
    """`Readings` in another process, over HTTP; the caller is who its key names there."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def find(self, query: ReadingQuery) -> list[ReadingSummary]:
        """See `Readings.find`."""
        found = self._client.get("/v1/readings", **_given(query))
        return [ReadingSummary.model_validate(each) for each in found]

    def waiting(self, query: WaitingQuery) -> WaitingPage:
        """See `Readings.waiting`."""
        return WaitingPage.model_validate(self._client.post("/v1/readings/waiting", query))

    def get(self, text_hash: str) -> ReadingDetail:
        """See `Readings.get`."""
        return ReadingDetail.model_validate(self._client.get(_path(text_hash)))

    def begin(self, text_hash: str) -> ReadingDetail:
        """See `Readings.begin`."""
        found = self._client.post(_path(text_hash, "/beginnings"), {})
        return ReadingDetail.model_validate(found)

    def replace(self, text_hash: str, reading: Reading, *, revision: str = "") -> ReadingDetail:
        """See `Readings.replace`."""
        found = self._client.put(
            _path(text_hash), {"procedures": [], **as_json(reading)}, revision=revision
        )
        return ReadingDetail.model_validate(found)

    def preview(self, text_hash: str, edit: EditRequest) -> EditPreview:
        """See `Readings.preview`."""
        return EditPreview.model_validate(self._client.post(_path(text_hash, "/previews"), edit))

    def edit(self, text_hash: str, edit: EditRequest) -> ReadingDetail:
        """See `Readings.edit`."""
        return ReadingDetail.model_validate(self._client.post(_path(text_hash, "/edits"), edit))

    def approve(self, text_hash: str, request: ApprovalRequest) -> ReadingDetail:
        """See `Readings.approve`."""
        found = self._client.post(_path(text_hash, "/approvals"), request)
        return ReadingDetail.model_validate(found)

    def answer(self, text_hash: str, request: AnswerRequest) -> ReadingDetail:
        """See `Readings.answer`."""
        found = self._client.post(_path(text_hash, "/answers"), request)
        return ReadingDetail.model_validate(found)

    def correct_box(self, correction: BoxCorrection) -> BoxCorrection:
        """See `Readings.correct_box`."""
        return BoxCorrection.model_validate(self._client.post("/v1/readings/boxes", correction))

    def box_corrections(self, document_id: str) -> list[KeptCorrection]:
        """See `Readings.box_corrections`."""
        found = self._client.get("/v1/readings/boxes", document=document_id)
        return [KeptCorrection.model_validate(each) for each in found]

    def undo(self, text_hash: str) -> ReadingDetail:
        """See `Readings.undo`."""
        return ReadingDetail.model_validate(self._client.post(_path(text_hash, "/undo"), {}))

    def history(self, text_hash: str) -> list[Event]:
        """See `Readings.history`."""
        found = self._client.get(_path(text_hash, "/history"))
        return [Event.model_validate(each) for each in found]

    def export(self, query: ReadingQuery) -> Iterator[str]:
        """See `Readings.export`."""
        text = self._client.get_text("/v1/readings/export", **_given(query))
        yield from filter(None, text.split("\n"))

    def import_lines(self, lines: Iterable[bytes], *, approve: bool) -> ImportReport:
        """See `Readings.import_lines`."""
        content = BytesIO(b"".join(line.rstrip(b"\r\n") + b"\n" for line in lines))
        path = f"/v1/readings/import?approve={str(approve).lower()}"
        files = [("readings.jsonl", content)]
        return ImportReport.model_validate(self._client.post_files(path, "file", files))


def _path(text_hash: str, rest: str = "") -> str:
    return f"/v1/readings/{quote(text_hash, '')}{rest}"


def _given(query: ReadingQuery) -> dict[str, Any]:
    return query.model_dump(mode="json", exclude_defaults=True)
