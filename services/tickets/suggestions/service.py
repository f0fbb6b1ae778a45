"""Suggested edits of pages: derived when they are asked for, but for who dismissed one."""

import time
from collections.abc import Callable

from sqlalchemy import delete, select

from services.contracts.ingestion import Ingestion
from services.contracts.readings import BlockEditRequest, Readings
from services.contracts.suggestions import SuggestedEdit, SuggestionChoice
from services.kit.access.audit import add_audit
from services.kit.access.caller import CallerKind, current_caller
from services.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from services.kit.sql.database import Database
from services.kit.sql.short_ids import match_short_id
from services.kit.teaching.ledger import load_teachers, ticket_subject
from services.kit.teaching.teacher import are_enough
from services.tickets.page_quality.documents import require_ingestion
from services.tickets.suggestions.derivation import SHOWN_SOURCES, suggest
from services.tickets.suggestions.page_blocks import PageBlocks
from services.tickets.suggestions.page_work import load_page_work
from services.tickets.tables import DismissalRow, to_datetime

MOST_SUGGESTIONS = 200
FURTHER_TICKETS = 3
"""Tickets after a dismissal that bring a suggestion back, if enough people worked on them."""


class NoSuggestionError(NotFoundError):
    """The page has no such suggestion, or not any more."""


class UnusableSuggestionError(InvalidInputError):
    """The text of the suggestion addresses a language model."""


class OwnSuggestionError(ForbiddenError):
    """The caller alone, with all their keys, has taught the suggestion."""


class SuggestedEditService:
    """Implementation of `contracts.suggestions.SuggestedEdits`.

    A suggestion is open while tickets speak for it and the page does not have it, so that undoing
    what was taken over opens it again, and the purge of its tickets takes it away.
    """

    def __init__(
        self,
        database: Database,
        ingestion: Ingestion | None,
        readings: Callable[[], Readings],
    ) -> None:
        """Create the service; `readings` are those of the caller."""
        self._database = database
        self._ingestion = ingestion
        self._readings = readings

    def of_document(
        self, document_id: str, *, dismissed: bool = False
    ) -> tuple[SuggestedEdit, ...]:
        """See `SuggestedEdits.of_document`."""
        shown = self._load(document_id)[1]
        if not dismissed:
            shown = [each for each in shown if each.dismissed_at is None]
        return tuple(
            each.model_copy(update={"sources": each.sources[:SHOWN_SOURCES]})
            for each in shown[:MOST_SUGGESTIONS]
        )

    def take_over(self, choice: SuggestionChoice) -> SuggestedEdit:
        """See `SuggestedEdits.take_over`."""
        page, chosen = self._choose(choice)
        if chosen.edit is None:
            raise UnusableSuggestionError("its text addresses a language model, not a person")
        caller = current_caller()
        work = [(ticket_subject(source.ticket_id), source.by) for source in chosen.sources]
        with self._database.session() as session:
            teachers = load_teachers(session, [subject for subject, _ in work])
        is_own = {teachers.of(*each) for each in work} - {""} == {caller.teacher}
        if is_own and caller.kind is not CallerKind.LOCAL:
            raise OwnSuggestionError("whoever alone suggests an edit does not take it over")
        request = BlockEditRequest(
            document=page.document_id, edit=chosen.edit, revision=choice.revision
        )
        self._readings().edit_block(page.detail.text_hash, request)
        facts = {"suggestion": chosen.key, "kind": chosen.kind.value}
        with self._database.session() as session:
            subject = f"document {page.document_id}"
            add_audit(session, "suggestion.taken", subject, after=facts)
        return chosen

    def dismiss(self, choice: SuggestionChoice) -> SuggestedEdit:
        """See `SuggestedEdits.dismiss`."""
        page, chosen = self._choose(choice)
        by, at = current_caller().name[:200], time.time()
        values = {"why": "", "by": by, "at": at}
        row = self._database.insert(DismissalRow).values(
            key=chosen.key, document_id=page.document_id, **values
        )
        facts = {"suggestion": chosen.key, "kind": chosen.kind.value}
        with self._database.session() as session:
            session.execute(row.on_conflict_do_update(index_elements=["key"], set_=values))
            subject = f"document {page.document_id}"
            add_audit(session, "suggestion.dismissed", subject, after=facts)
        return chosen.model_copy(update={"dismissed_by": by, "dismissed_at": to_datetime(at)})

    def restore(self, key: str) -> None:
        """See `SuggestedEdits.restore`."""
        mine = delete(DismissalRow).where(DismissalRow.key == key)
        with self._database.session() as session:
            document_id = session.scalar(mine.returning(DismissalRow.document_id))
            if document_id is not None:
                facts = {"suggestion": key}
                subject = f"document {document_id}"
                add_audit(session, "suggestion.restored", subject, before=facts)

    def _choose(self, choice: SuggestionChoice) -> tuple[PageBlocks, SuggestedEdit]:
        page, suggestions = self._load(choice.document_id)
        key = match_short_id((each.key for each in suggestions), choice.key)
        chosen = next((each for each in suggestions if each.key == key), None)
        if chosen is None:
            raise NoSuggestionError("nothing suggests this any more: look at the page again")
        return page, chosen

    def _load(self, document_id: str) -> tuple[PageBlocks, list[SuggestedEdit]]:
        """Return a page with its suggestions in the order of their blocks, dismissed ones too."""
        ingestion = require_ingestion(self._ingestion)
        contents = ingestion.contents(ingestion.document(document_id).id)
        page = PageBlocks(contents, self._readings().get(contents.document.text_hash))
        with self._database.session() as session:
            work = load_page_work(session, page)
            suggestions = list(suggest(work, page))
            of_page = select(DismissalRow).where(DismissalRow.document_id == page.document_id)
            dismissals = {row.key: (row.by, row.at) for row in session.scalars(of_page)}
        shown = []
        for each in suggestions:
            by, at = dismissals.get(each.key, ("", 0.0))
            further = [source for source in each.sources if source.at.timestamp() > at]
            has_further = len(further) >= FURTHER_TICKETS and are_enough(
                work.teacher_of(source.ticket_id, source.by) for source in further
            )
            is_dismissed = at > 0 and not has_further
            fields = {"dismissed_by": by, "dismissed_at": to_datetime(at)} if is_dismissed else {}
            shown.append(each.model_copy(update=fields))
        places = {key: place for place, key in enumerate(page.places)}
        return page, sorted(shown, key=lambda each: (places[each.block], each.kind, each.key))
