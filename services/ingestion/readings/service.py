"""Service of readings: what people see of them, and what they change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from services.contracts.readings import (
    AnswerRequest,
    ApprovalRequest,
    BlockEditRequest,
    BoxCorrection,
    EditPreview,
    EditRequest,
    ImportReport,
    KeptCorrection,
    OfferedProcedure,
    PageReview,
    ProcedureState,
    ReadingDetail,
    ReadingQuery,
    ReadingSummary,
    ReviewRequest,
    WaitingPage,
    WaitingQuery,
)
from services.ingestion.readings.json_lines import ReadingImport, line_of
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.readings.review_queue import ReviewQueue
from services.ingestion.readings.reviews import Reviews
from services.kit.errors import ConflictError, NotFoundError
from services.kit.sql.short_ids import match_short_id
from services.kit.text import clean_text
from services.knowledge.naming import find_document
from services.knowledge.page.block import Page, Place
from services.knowledge.page.boxes import blocks_of, candidates, find_boxes
from services.knowledge.page.parsing import parse_page
from services.knowledge.ports import DocumentNotFoundError
from services.knowledge.screening.document import ScreenedDocument
from services.runbook.checking.approvals import kind_by_origin
from services.runbook.checking.check import CheckedReading, UnusableReadingError, check_reading
from services.runbook.checking.doubts import settle_doubt
from services.runbook.checklist.build import first_instruction, reading_from_boxes
from services.runbook.editing.apply import stages
from services.runbook.editing.block_edits import PageQuestion, SetBox
from services.runbook.editing.block_operations import (
    apply_block_edit,
    procedure_at,
    refuse_across,
)
from services.runbook.editing.consequences import consequences
from services.runbook.editing.difference import describe_effects, difference
from services.runbook.editing.errors import NothingChangedError
from services.runbook.evidence.page_questions import page_questions
from services.runbook.model import Procedure, Reader, Reading
from services.runbook.ports import (
    UNREAD,
    BoxBefore,
    Event,
    Happening,
    MarkedBlock,
    ProcedureNotFoundError,
    ReadingChangedError,
    ReadingNotFoundError,
    ReadingState,
    ServedReading,
    TextFilter,
    TextSummary,
    UnseenDoubtsError,
)

_EXPORTED_AT_ONCE = 200
_LONGEST_WORDS = 120
_BEGUN = "begun from the boxes of the page"


class QuestionNotFoundError(ConflictError):
    """The page does not ask this question, or no longer does."""


class ReadingsService:
    """See `contracts.readings.Readings`."""

    def __init__(
        self,
        maintenance: ReadingMaintenance,
        review_queue: ReviewQueue,
        reviews: Reviews,
        *,
        who: str,
    ) -> None:
        """Name `who` in all that this caller changes."""
        self._store, self._boxes = maintenance.store, maintenance.boxes
        self._texts = maintenance.texts
        self._approved_blocks = maintenance.approved_blocks
        self._review_queue = review_queue
        self._reviews = reviews
        self._who = who

    def find(self, query: ReadingQuery) -> list[ReadingSummary]:
        """See `Readings.find`."""
        summaries = [each for each in self._select(query) if each.text_hash > query.after]
        return summaries[: query.limit]

    def summary(self, page: str) -> ReadingSummary:
        """See `Readings.summary`."""
        text_hash = self._hash_of(page)
        documents = self._texts.ids_of(text_hash)
        recorded = self._store.summaries([text_hash]).get(text_hash)
        if recorded is None:
            self._unread(text_hash)
            return _unread_summary(text_hash, documents)
        return _summary(recorded, documents)

    def waiting(self, query: WaitingQuery) -> WaitingPage:
        """See `Readings.waiting`."""
        return self._review_queue.page(query)

    def request_review(self, request: ReviewRequest) -> list[PageReview]:
        """See `Readings.request_review`."""
        document = find_document(self._texts.documents, request.document_id)
        if document is not None:
            request = request.model_copy(update={"document_id": document.id})
        return self._reviews.put(request, who=self._who)

    def reviews(self, *, owner: str = "") -> list[PageReview]:
        """See `Readings.reviews`."""
        return self._reviews.open(owner)

    def get(self, text_hash: str) -> ReadingDetail:
        """See `Readings.get`."""
        text_hash = self._hash_of(text_hash)
        return self._detail(text_hash, self._store.served(text_hash) or self._unread(text_hash))

    def begin(self, text_hash: str) -> ReadingDetail:
        """See `Readings.begin`."""
        text_hash = self._hash_of(text_hash)
        if self._store.served(text_hash) is not None:
            raise ReadingChangedError("somebody has read the page by now: look at it again")
        served = self._unread(text_hash)
        title = next(iter(self._texts.ids_of(text_hash)), text_hash)
        begun = self._begun(text_hash, title)
        return self._replace(text_hash, served, begun, served.revision, detail=_BEGUN)

    def _begun(self, text_hash: str, document_id: str) -> Reading:
        """Return a reading of the boxes of a page."""
        corrections = self._boxes.corrections([document_id]).get(document_id, {})
        document = self._texts.documents.get(document_id)
        text = document.for_person().text if document else self._text(text_hash)
        withheld = document.withheld if document else ()
        habit = self._boxes.habit()
        return reading_from_boxes(text, document_id, corrections, habit, withheld)

    def correct_box(self, correction: BoxCorrection) -> BoxCorrection:
        """See `Readings.correct_box`."""
        whole = {"document_id": self._find_document(correction.document_id).id}
        correction = correction.model_copy(update=whole)
        id_, key = correction.document_id, correction.key
        text_hash = self._texts.of_documents([id_]).get(id_, "")
        served = self._store.served(text_hash) if text_hash else None
        has_steps = served is not None and bool(served.reading.procedures)
        if has_steps and correction.is_step is not None and blocks_of(self._page(id_), key):
            edit = SetBox(block=key, is_step=correction.is_step)
            self.edit_block(text_hash, BlockEditRequest(edit=edit, document=id_))
        else:
            self._correct_box(correction, text_hash)
        return correction

    def _correct_box(self, correction: BoxCorrection, text_hash: str) -> None:
        """Store a correction where no reading changes with it."""
        change = self._box_change(correction)
        self._put_boxes(change)
        if change.before and text_hash:
            self._store.note_boxes(text_hash, change.before, who=self._who, detail=change.detail)

    def _put_boxes(self, change: "_BoxChange") -> None:
        is_step = change.correction.is_step
        for key, block in change.blocks.items():
            document_id = change.correction.document_id
            self._boxes.put(document_id, key, is_step=is_step, who=self._who, block=block)

    def _box_change(self, correction: BoxCorrection) -> "_BoxChange":
        """Return what a correction would change.

        Raises:
            NotFoundError: No document has this id, or its page no such block.
        """
        id_, key = correction.document_id, correction.key
        page = self._page(id_)
        boxes = self._boxes
        places = blocks_of(page, key)
        words = {each.key: each for each in boxes.words(id_)}
        if not places and not (key in words and correction.is_step is None):
            raise NotFoundError(f"the page {id_!r} has no block {key!r} any more")
        steps = {box.block.key for box in find_boxes(page, habit=boxes.habit())}
        marked: dict[str, MarkedBlock | None] = {
            place.block.key: MarkedBlock(
                words=first_instruction(place.block)[:_LONGEST_WORDS],
                headings=_headings(place),
                line=place.block.start_line,
                was_step=place.block.key in steps,
            )
            for place in places
        }
        before = []
        for each in marked or [key]:
            word = words.get(each)
            if correction.is_step is not (word.is_step if word else None):
                before.append(BoxBefore(document_id=id_, key=each, word=word))
        state = {True: "a step", False: "no step", None: "as its form says"}[correction.is_step]
        named = "; ".join(block.words for block in marked.values() if block) or key
        return _BoxChange(correction, marked or {key: None}, before, f"{named}: {state}")

    def box_corrections(self, document_id: str) -> list[KeptCorrection]:
        """See `Readings.box_corrections`."""
        document_id = self._find_document(document_id).id
        places = {each.block.key: each for each in candidates(self._page(document_id))}
        shown = []
        for word in self._boxes.words(document_id):
            place = places.get(word.key)
            kept = KeptCorrection(**dict(word), line=place.block.start_line if place else None)
            if place is not None and not word.words:  # kept by a release that noted no words
                words = first_instruction(place.block)[:_LONGEST_WORDS]
                kept = kept.model_copy(update={"words": words, "headings": _headings(place)})
            shown.append(kept)
        return shown

    def _find_document(self, name: str) -> ScreenedDocument:
        """Return the document of this id, or of an id that ends so.

        Raises:
            DocumentNotFoundError: There is none.
            AmbiguousIdError: There are several.
        """
        document = find_document(self._texts.documents, name)
        if document is None:
            raise DocumentNotFoundError(f"expected the id of an ingested document, got {name!r}")
        return document

    def _page(self, document_id: str) -> Page:
        """Return the page of a document, with the lines that screening withholds marked."""
        document = self._find_document(document_id)
        return parse_page(document.for_person().text, withheld=document.withheld)

    def replace(self, text_hash: str, reading: Reading, *, revision: str = "") -> ReadingDetail:
        """See `Readings.replace`."""
        text_hash = self._hash_of(text_hash)
        served = self._store.served(text_hash) or self._unread(text_hash)
        self._check_revision(revision, served)
        return self._replace(text_hash, served, reading, served.revision)

    def preview(self, text_hash: str, edit: EditRequest) -> EditPreview:
        """See `Readings.preview`."""
        text_hash = self._hash_of(text_hash)
        served = self._served(text_hash)
        self._check_revision(edit.revision, served)
        edited = _ProcedureEdit(text_hash, served, edit, served.revision)
        return self._preview(text_hash, served, edited)

    def _preview(
        self, text_hash: str, served: ServedReading, edited: "_ProcedureEdit"
    ) -> EditPreview:
        stored = self._check_whole(text_hash, edited)
        changes = difference(edited.before, edited.after)
        return EditPreview(
            revision=edited.revision,
            procedure=edited.place,
            reading=stored.reading,
            difference=changes.model_copy(update={"effects": edited.effects}),
            consequences=consequences(edited.before, edited.after),
            voids_approval=served.state(edited.place) is ReadingState.APPROVED,
            remarks=tuple(stored.remarks),
        )

    def edit(self, text_hash: str, edit: EditRequest) -> ReadingDetail:
        """See `Readings.edit`."""
        text_hash = self._hash_of(text_hash)
        served = self._served(text_hash)
        self._check_revision(edit.revision, served)
        edited = _ProcedureEdit(text_hash, served, edit, served.revision)
        self._check_whole(text_hash, edited)
        detail = "; ".join(edited.effects)
        return self._replace(text_hash, served, edited.reading, edited.revision, detail=detail)

    def preview_block(self, text_hash: str, request: BlockEditRequest) -> EditPreview:
        """See `Readings.preview_block`."""
        text_hash = self._hash_of(text_hash)
        stored = self._store.served(text_hash)
        served, edited = self._edit_at_block(text_hash, request, stored)
        return self._preview(text_hash, served, edited)

    def edit_block(self, text_hash: str, request: BlockEditRequest) -> ReadingDetail:
        """See `Readings.edit_block`."""
        text_hash = self._hash_of(text_hash)
        edit, document_id = request.edit, self._document(text_hash, request)
        correction = None
        if isinstance(edit, SetBox):
            correction = BoxCorrection(
                document_id=document_id, key=edit.block, is_step=edit.is_step
            )
        stored = self._store.served(text_hash)
        if correction is not None and stored is None:
            self._check_revision(request.revision, self._unread(text_hash))
            self._correct_box(correction, text_hash)
            return self.get(text_hash)
        try:
            served, edited = self._edit_at_block(text_hash, request, stored)
        except NothingChangedError:
            if correction is None:
                raise
            self._correct_box(correction, text_hash)
            return self.get(text_hash)
        self._check_whole(text_hash, edited)
        boxes = None
        if correction is not None and blocks_of(self._page(document_id), edit.block):
            boxes = self._box_change(correction)
        detail = "; ".join([*([_BEGUN] if stored is None else []), *edited.effects])
        return self._replace(
            text_hash, served, edited.reading, edited.revision, detail=detail, boxes=boxes
        )

    def _document(self, text_hash: str, request: BlockEditRequest) -> str:
        """Return the id of the document that the request names, or of the first with the text.

        Raises:
            ReadingNotFoundError: No document has such a text.
            ReadingChangedError: The document has another text by now.
        """
        documents = self._texts.ids_of(text_hash)
        now = self._texts.of_documents([request.document]) if request.document else {}
        if request.document and request.document not in documents and now:
            raise ReadingChangedError(
                f"the page {request.document!r} has changed meanwhile: look at its text "
                f"{now[request.document]}"
            )
        if not documents:
            self._unread(text_hash)
        return request.document or documents[0]

    def _edit_at_block(
        self, text_hash: str, request: BlockEditRequest, stored: ServedReading | None
    ) -> tuple[ServedReading, "_ProcedureEdit"]:
        """Return what is stored, or would begin, with the change at a block of it.

        Raises:
            ReadingChangedError: Something else is served than the caller saw.
            UnusableOperationError: It cannot be done, or changes nothing.
        """
        document_id = self._document(text_hash, request)
        seen = stored or self._unread(text_hash)
        self._check_revision(request.revision, seen)
        served = stored
        if served is None or not served.reading.procedures:
            served = ServedReading(reading=self._begun(text_hash, document_id))
        page = self._page(document_id)
        place = request.procedure
        if place is None:
            place = procedure_at(served.reading.procedures, page, request.edit.block)
        if place >= len(served.reading.procedures):
            raise ProcedureNotFoundError(f"the reading has no procedure at {place}")
        refuse_across(served.reading.procedures, page, place, request.edit)
        operations = apply_block_edit(served.reading.procedures[place], page, request.edit)
        # Not validated: a long list may come to more operations than a client may send.
        edit = EditRequest.model_construct(procedure=place, operations=operations)
        return served, _ProcedureEdit(text_hash, served, edit, seen.revision)

    def _check_whole(self, text_hash: str, edited: "_ProcedureEdit") -> CheckedReading:
        """Return the edited reading as its text allows it.

        Raises:
            UnusableReadingError: A procedure would be left out.
        """
        outcome = check_reading(edited.reading, self._text(text_hash))
        if len(outcome.reading.procedures) < len(edited.reading.procedures):
            raise UnusableReadingError("; ".join(outcome.remarks[:3]))
        return outcome

    def _replace(
        self,
        text_hash: str,
        served: ServedReading,
        reading: Reading,
        revision: str,
        *,
        detail: str = "",
        boxes: "_BoxChange | None" = None,
    ) -> ReadingDetail:
        if not reading.procedures and any(served.approvals):
            raise UnusableReadingError("approved procedures would be lost; undo or forget instead")
        text = self._text(text_hash)
        outcome = check_reading(reading, text)
        self._store.replace(
            text_hash,
            outcome.reading,
            who=self._who,
            what=Happening.REPLACED,
            detail=detail,
            boxes=boxes.before if boxes else (),
            revision=revision,
        )
        if boxes:
            self._put_boxes(boxes)
        stored = self.get(text_hash)
        return stored.model_copy(update={"remarks": tuple(outcome.remarks)})

    def approve(self, text_hash: str, request: ApprovalRequest) -> ReadingDetail:
        """See `Readings.approve`."""
        text_hash = self._hash_of(text_hash)
        served = self._served(text_hash)
        self._check_revision(request.revision, served)
        self._check_current(text_hash)
        procedure = self._procedure(text_hash, served, request)
        kind, now = request.kind or kind_by_origin(procedure), served.kind(request.procedure)
        is_open = now is None or not now.includes(kind)
        doubts = [d for d in served.reading.doubts if d.procedure == request.procedure]
        if request.doubts is not None and request.doubts != len(doubts):
            questions = "; ".join(doubt.question for doubt in doubts)
            raise UnseenDoubtsError(
                f"{len(doubts)} doubts of it are open, not {request.doubts}: look at it again. "
                f"{questions}".rstrip(". ")
            )
        in_doubt = any(doubt.ticket for doubt in doubts)
        if request.offered or is_open or in_doubt:
            self._store.approve(
                text_hash, [procedure], who=self._who, kind=kind, revision=served.revision
            )
        detail = self.get(text_hash)
        if detail.state is ReadingState.APPROVED:
            self._reviews.close(detail.documents)
        return detail

    def answer(self, text_hash: str, request: AnswerRequest) -> ReadingDetail:
        """See `Readings.answer`."""
        text_hash = self._hash_of(text_hash)
        served = self._served(text_hash)
        self._check_revision(request.revision, served)
        reading = settle_doubt(served.reading, request.doubt, request.answer)
        doubt = next(each for each in served.reading.doubts if each.id == request.doubt)
        detail = f"{doubt.question} {doubt.answers[request.answer].text}"
        self._store.replace(
            text_hash,
            reading,
            who=self._who,
            what=Happening.ANSWERED,
            detail=detail,
            revision=served.revision,
        )
        return self.get(text_hash)

    def answer_question(self, text_hash: str, question: str) -> ReadingDetail:
        """See `Readings.answer_question`."""
        text_hash = self._hash_of(text_hash)
        page = self.get(text_hash)
        questions = {each.id: each for each in page.questions}
        id_ = match_short_id(questions, question)
        if id_ is None:
            raise QuestionNotFoundError(
                f"the page does not ask {question[:80]!r}: look at it again"
            )
        seen = questions[id_]
        detail = f"{seen.text} {'Yes' if seen.yes is None else 'No'}"
        self._store.answer_question(
            text_hash,
            seen.id,
            seen.block,
            who=self._who,
            detail=detail,
            doubt=seen.doubt,
            revision=page.revision,
        )
        return self.get(text_hash)

    def undo(self, text_hash: str, *, event: int | None = None) -> ReadingDetail:
        """See `Readings.undo`."""
        text_hash = self._hash_of(text_hash)
        self._check_current(text_hash)
        self._store.undo(text_hash, who=self._who, event=event)
        return self.get(text_hash)

    def history(self, text_hash: str) -> list[Event]:
        """See `Readings.history`."""
        text_hash = self._hash_of(text_hash)
        events = self._store.history(text_hash)
        if not events and self._store.served(text_hash) is None:
            self._unread(text_hash)
        return events

    def export(self, query: ReadingQuery) -> Iterator[str]:
        """See `Readings.export`."""
        summaries = list(self._select(query))
        for start in range(0, len(summaries), _EXPORTED_AT_ONCE):
            some = summaries[start : start + _EXPORTED_AT_ONCE]
            served = self._store.served_many([each.text_hash for each in some])
            for each in some:
                if each.text_hash in served:
                    name = next(iter(each.documents), "")
                    yield line_of(each.text_hash, name, served[each.text_hash])

    def import_lines(self, lines: Iterable[bytes], *, approve: bool) -> ImportReport:
        """See `Readings.import_lines`."""
        return ReadingImport(self._store, self._texts, self._who, approve).run(lines)

    def _select(self, query: ReadingQuery) -> Iterator[ReadingSummary]:
        """Yield matching texts that documents have now; texts that are gone are kept, not shown."""
        by_hash: dict[str, list[str]] = {}
        for id_, hashed in self._texts.hashes().items():
            by_hash.setdefault(hashed, []).append(id_)
        wanted = TextFilter(state=query.state, reader=query.reader, doubts=query.doubts)
        for text in self._store.list_texts(wanted):
            documents = by_hash.get(text.text_hash, [])
            if documents and (not query.document or query.document in documents):
                yield _summary(text, documents)

    def _hash_of(self, page: str) -> str:
        return self._texts.hash_of(page) or page

    def _served(self, text_hash: str) -> ServedReading:
        """Return what is served of a text.

        Raises:
            ReadingNotFoundError: Nobody has read it, or no document has such a text.
        """
        served = self._store.served(text_hash)
        if served is None:
            self._unread(text_hash)
            raise ReadingNotFoundError(
                f"nobody has read the page with the text hash {text_hash[:80]!r}: begin its reading"
                " from its boxes, or send one"
            )
        return served

    def _unread(self, text_hash: str) -> ServedReading:
        """Return an empty reading of a page that nobody has read.

        Raises:
            ReadingNotFoundError: No document has such a text.
        """
        if not self._texts.ids_of(text_hash):
            raise ReadingNotFoundError(
                f"no reading and no document has the text hash {text_hash[:80]!r}: "
                "`flowxpert readings list` and /v1/readings list them"
            )
        return UNREAD

    def _text(self, text_hash: str) -> str:
        text = self._texts.text(text_hash)
        if text is None:
            raise UnusableReadingError(
                f"no document has the text {text_hash[:80]!r} any more: ingest it again first"
            )
        return text

    def _procedure(
        self, text_hash: str, served: ServedReading, request: ApprovalRequest
    ) -> Procedure:
        """Return the procedure that the request names.

        Raises:
            ProcedureNotFoundError: There is none at this place.
        """
        if request.offered:
            offers = self._store.offers(text_hash)
            matches = [each.offered for each in offers if each.procedure == request.procedure]
        else:
            matches = list(served.reading.procedures[request.procedure :][:1])
        if not matches:
            raise ProcedureNotFoundError(
                f"the reading has {len(served.reading.procedures)} procedures, counted from 0, and "
                f"none {'offered ' if request.offered else ''}at {request.procedure}"
            )
        return matches[0]

    def _check_current(self, text_hash: str) -> None:
        """Refuse a change of what is no document's text any more.

        Raises:
            ReadingNotFoundError: Nobody has read such a text.
            ReadingChangedError: Its documents have another text by now.
        """
        if not self._texts.ids_of(text_hash):
            if self._store.served(text_hash) is None:
                self._unread(text_hash)
            raise ReadingChangedError("no document has this text any more: look at the page again")

    def _check_revision(self, revision: str, served: ServedReading) -> None:
        """Refuse a change of a reading that the caller has not seen.

        Raises:
            ReadingChangedError: Something else is served.
        """
        if revision and revision != served.revision:
            raise ReadingChangedError("the reading has changed meanwhile: look at it again")

    def _detail(self, text_hash: str, served: ServedReading) -> ReadingDetail:
        summary, text = self.summary(text_hash), self._texts.text(text_hash)
        offers = [OfferedProcedure(**dict(each)) for each in self._store.offers(text_hash)]
        states = []
        for place, procedure in enumerate(served.reading.procedures):
            approval = served.approvals[place] if place < len(served.approvals) else None
            states.append(
                ProcedureState(
                    title=procedure.title,
                    state=served.state(place),
                    kind=served.kind(place),
                    by=approval.by if approval else "",
                    at=approval.at if approval else None,
                )
            )
        changed = None
        if text is not None and summary.was_approved:
            changed = self._approved_blocks.changed(text_hash, text)
        questions: tuple[PageQuestion, ...] = ()
        if summary.documents:
            id_ = summary.documents[0]
            questions = page_questions(
                self._page(id_),
                id_,
                served,
                self._store.unedited(text_hash),
                corrections=self._boxes.corrections([id_]).get(id_, {}),
                habit=self._boxes.habit(),
                answered=self._store.answered_questions(text_hash),
                changed=changed,
            )
        return ReadingDetail(
            **dict(summary),
            revision=served.revision,
            reading=served.reading,
            states=tuple(states),
            offers=tuple(offers),
            questions=questions,
            lines=tuple(text.split("\n")) if text is not None else (),
            changed_blocks=changed,
        )


class _BoxChange(NamedTuple):
    """A correction of a page's blocks with what it replaces."""

    correction: BoxCorrection
    blocks: Mapping[str, MarkedBlock | None]
    """The blocks by their keys; None for one that is gone."""
    before: Sequence[BoxBefore]
    detail: str


class _ProcedureEdit:
    """Edit of one procedure of a reading, with the reading that results."""

    def __init__(
        self, text_hash: str, served: ServedReading, edit: EditRequest, revision: str
    ) -> None:
        """Apply the edit to what is served, of which `revision` is stored.

        Raises:
            ProcedureNotFoundError: There is none at this place.
            UnusableOperationError: An operation cannot be done.
        """
        self.place, self.revision = edit.procedure, revision
        procedures = list(served.reading.procedures)
        if edit.procedure >= len(procedures):
            raise ProcedureNotFoundError(
                f"the reading of {text_hash[:80]!r} has {len(procedures)} procedures, counted "
                f"from 0, and none at {edit.procedure}"
            )
        versions = stages(procedures[edit.procedure], edit.operations)
        self.before, self.after = versions[0], versions[-1]
        effects = describe_effects(versions, edit.operations)
        self.effects = tuple(map(clean_text, effects))
        procedures[edit.procedure] = self.after
        self.reading = served.reading.model_copy(
            update={"reader": Reader.PERSON, "procedures": tuple(procedures)}
        )


def _summary(text: TextSummary, documents: Sequence[str]) -> ReadingSummary:
    is_approved = not text.was_approved and 0 < text.procedures == text.approved
    return ReadingSummary(
        text_hash=text.text_hash,
        documents=tuple(documents),
        reader=text.reader,
        state=ReadingState.APPROVED if is_approved else ReadingState.READ,
        procedures=text.procedures,
        approved=text.approved,
        checklists=text.checklists,
        doubts=text.doubts,
        was_approved=text.was_approved,
        updated_at=text.updated_at,
    )


def _unread_summary(text_hash: str, documents: Sequence[str]) -> ReadingSummary:
    """Build the summary of a page that nobody has read."""
    return ReadingSummary(
        text_hash=text_hash,
        documents=tuple(documents),
        reader=None,
        state=ReadingState.READ,
        procedures=0,
        approved=0,
        doubts=0,
        was_approved=False,
        updated_at=datetime.fromtimestamp(0, UTC),
    )


def _headings(place: Place) -> tuple[str, ...]:
    return tuple(each.text for each in place.headings if not each.is_withheld)
