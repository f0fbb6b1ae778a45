"""Questions about tickets as they are stored: at most one of a ticket is open."""

import time
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.clarification import ClarificationState
from services.gateway.clarify.dialogue import Dialogue
from services.gateway.tables import ClarificationRow, TicketRow
from services.gateway.ticket.events import Note
from services.gateway.ticket.question import Question, questions_of, why_gone, why_quiet
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox

WORD_TASK = "gateway.word_question"
KEPT = 4
"""Further questions that are kept: a model chooses among them, and one is the next where the
engineer does not know."""


class Asking:
    """Asks in the transaction of whoever concludes a walk or takes an answer."""

    def __init__(self, outbox: Outbox, *, most: int, is_worded: bool) -> None:
        """At most so many questions for a ticket; `is_worded` where a model words them later."""
        self._outbox = outbox
        self._most = most
        self.is_worded = is_worded

    def ask(self, session: Session, ticket_id: str, questions: Sequence[Question]) -> list[Note]:
        """Open the first of the questions, unless the ticket has had its questions."""
        if not questions:
            return []
        turns = questions_of(session, ticket_id)
        may = (not turns or _is_past(session, turns[-1])) and not why_quiet(session, ticket_id)
        may = may and _asks(session, ticket_id)
        if not may or len(turns) >= self._most:
            return []
        id_, asked = time_ordered_id(), questions[0]
        session.add(
            ClarificationRow(
                id=id_,
                ticket_id=ticket_id,
                turn=len(turns) + 1,
                state=ClarificationState.OPEN.value,
                wording=asked.text,
                worded_by="",
                question=asked.model_dump(mode="json"),
                others=[other.model_dump(mode="json") for other in questions[1 : KEPT + 1]],
                answer="",
                asked_at=time.time(),
            )
        )
        if self.is_worded:
            arguments = {"clarification_id": id_}
            self._outbox.put(session, WORD_TASK, arguments, f"{WORD_TASK}:{id_}")
        return [Note("asked", {"turn": len(turns) + 1, "question": asked.text})]


def _is_past(session: Session, row: ClarificationRow) -> bool:
    """Whether it was answered, or the workflow that is shown now does not ask it."""
    state = ClarificationState(row.state)
    return state in _ANSWERED or (state is ClarificationState.OPEN and bool(why_gone(session, row)))


def _asks(session: Session, ticket_id: str) -> bool:
    """Whether its engineer still takes questions; who says otherwise waits for this transaction."""
    statement = select(TicketRow.asks).where(TicketRow.id == ticket_id).with_for_update()
    return bool(session.scalar(statement))


_ANSWERED = frozenset({ClarificationState.ANSWERED, ClarificationState.UNKNOWN})


def asked_about(rows: Sequence[ClarificationRow], ticket_text: str) -> Dialogue:
    """What was learned by the questions that were answered."""
    asked = Dialogue(ticket_text=ticket_text)
    for row in rows:
        if ClarificationState(row.state) in _ANSWERED:
            question = Question.model_validate(row.question)
            choice = None if row.choice is None else question.choices[row.choice]
            own_words = row.answer if row.state == ClarificationState.ANSWERED.value else ""
            asked = asked.after(question, choice, own_words)
        asked = asked.also_told(row.said)
    terms = dict.fromkeys(term for row in rows for term in row.terms)
    return asked.model_copy(update={"terms": tuple(terms)})
