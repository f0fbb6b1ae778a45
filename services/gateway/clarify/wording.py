"""The task that lets a model choose and word an open question; without it the page's words stay."""

import time
from collections.abc import Mapping
from typing import Any

import structlog
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from services.contracts.clarification import ClarificationState
from services.contracts.ticket import TicketDraft
from services.gateway.clarify.by_model import Worded, worded
from services.gateway.tables import ClarificationRow, TicketRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.question import Question
from services.gateway.writeback.service import WriteBack
from services.kit.errors import FlowXpertError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.llm.chat_model import ChatModel

_log = structlog.get_logger()
_DRAFT = tuple(getattr(TicketRow, name) for name in TicketDraft.model_fields)


class Wording:
    """Words one question at a time; a question that is answered meanwhile stays as it was."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        model: ChatModel,
        write_back: WriteBack,
        *,
        within_s: float,
        wanted_s: float,
    ) -> None:
        """The model may take `within_s` seconds, and begin `wanted_s` after the question came."""
        self._database = database
        self._outbox = outbox
        self._model = model
        self._write_back = write_back
        self._within_s = within_s
        self._wanted_s = wanted_s

    def run(self, clarification_id: str) -> None:
        """Word the question where it is open and the model helps, and let its system be told."""
        with self._database.session() as session:
            row = session.get(ClarificationRow, clarification_id)
            ticket = _ticket_of(session, row) if row else None
        if row is None or ticket is None:
            return
        questions = [Question.model_validate(each) for each in (row.question, *row.others)]
        found = self._worded(ticket, questions) if self._is_in_time(row) else None
        with self._database.session() as session:
            if found is not None:
                self._store(session, row, questions, found)
            self._write_back.put(session, row.ticket_id)
            self._outbox.finish(session)

    def park(self, session: Session, arguments: Mapping[str, Any], _reason: str) -> None:
        """The question stays in the page's words, and is told so."""
        row = session.get(ClarificationRow, arguments["clarification_id"])
        if row is not None:
            self._write_back.put(session, row.ticket_id)

    def _worded(self, ticket: TicketDraft, questions: list[Question]) -> Worded | None:
        try:
            return worded(self._model, ticket, questions, within_s=self._within_s)
        except FlowXpertError as error:
            _log.warning("gateway.question_not_worded", reason=str(error))
            return None

    def _is_in_time(self, row: ClarificationRow) -> bool:
        """In a storm of tickets the questions stay in the page's words."""
        waited = time.time() - row.asked_at
        return row.state == ClarificationState.OPEN.value and waited < self._wanted_s

    def _store(
        self,
        session: Session,
        row: ClarificationRow,
        questions: list[Question],
        found: Worded,
    ) -> None:
        chosen = questions.pop(found.place)
        statement = (
            update(ClarificationRow)
            .where(
                ClarificationRow.id == row.id,
                ClarificationRow.state == ClarificationState.OPEN.value,
            )
            .values(
                wording=found.wording,
                worded_by=self._model.name,
                terms=list(found.terms),
                question=chosen.model_dump(mode="json"),
                others=[other.model_dump(mode="json") for other in questions],
            )
            .returning(ClarificationRow.id)
        )
        if session.scalar(statement) is not None:
            note = Note("asked", {"turn": row.turn, "question": found.wording})
            add_events(session, row.ticket_id, [note])


def _ticket_of(session: Session, row: ClarificationRow) -> TicketDraft | None:
    found = session.execute(select(*_DRAFT).where(TicketRow.id == row.ticket_id)).one_or_none()
    return TicketDraft.model_construct(**found._mapping) if found else None
