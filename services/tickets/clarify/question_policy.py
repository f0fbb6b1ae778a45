"""Policy of asking: at most one question about a ticket is open, and a ticket has few in all."""

import time
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.clarification import ClarificationState
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.tickets.clarify.dialogue import Dialogue
from services.tickets.tables import ClarificationRow, TicketRow
from services.tickets.ticket.citations import store_nearest
from services.tickets.ticket.events import Note
from services.tickets.ticket.question import (
    ClarifyingQuestion,
    questions_of,
    why_closed,
    why_no_question,
)

WORD_TASK = "gateway.word_question"
KEPT = 4
"""Further questions that are kept: a model chooses among them, and one is next if the engineer does
not know.
"""


class QuestionPolicy:
    """Policy that opens questions, in the transaction that ends a walk or takes an answer."""

    def __init__(self, outbox: Outbox, *, most: int, is_worded: bool) -> None:
        """Allow at most `most` questions a ticket; with `is_worded` a model words them later."""
        self._outbox = outbox
        self._most = most
        self.is_worded = is_worded

    def ask(
        self, session: Session, ticket_id: str, questions: Sequence[ClarifyingQuestion]
    ) -> list[Note]:
        """Open the first of the questions, unless the ticket has had its questions."""
        if not questions:
            return []
        turns = questions_of(session, ticket_id)
        last = turns[-1] if turns else None
        # The last one was answered, or the workflow shown now does not ask it.
        is_past = (
            last is None
            or last.state in _ANSWERED
            or (last.state == ClarificationState.OPEN and bool(why_closed(session, last)))
        )
        may_ask = is_past and not why_no_question(session, ticket_id)
        # Whether the engineer still takes questions; the lock is against a refusal meanwhile.
        asks = select(TicketRow.asks).where(TicketRow.id == ticket_id).with_for_update()
        if not may_ask or not session.scalar(asks) or len(turns) >= self._most:
            return []
        id_, first = time_ordered_id(), questions[0]
        session.add(
            ClarificationRow(
                id=id_,
                ticket_id=ticket_id,
                turn=len(turns) + 1,
                state=ClarificationState.OPEN.value,
                wording=first.text,
                worded_by="",
                question=first.model_dump(mode="json"),
                others=[other.model_dump(mode="json") for other in questions[1 : KEPT + 1]],
                answer="",
                asked_at=time.time(),
            )
        )
        store_nearest(session, ticket_id, first.cards)
        if self.is_worded:
            arguments = {"clarification_id": id_}
            self._outbox.put(session, WORD_TASK, arguments, f"{WORD_TASK}:{id_}")
        return [Note("asked", {"turn": len(turns) + 1, "question": first.text})]


_ANSWERED = frozenset({ClarificationState.ANSWERED, ClarificationState.UNKNOWN})


def dialogue_of(rows: Sequence[ClarificationRow], ticket_text: str) -> Dialogue:
    """Build the dialogue from the questions that were answered."""
    dialogue = Dialogue(ticket_text=ticket_text)
    for row in rows:
        if row.state in _ANSWERED:
            question = ClarifyingQuestion.model_validate(row.question)
            choice = None if row.choice is None else question.choices[row.choice]
            own_words = row.answer if row.state == ClarificationState.ANSWERED.value else ""
            dialogue = dialogue.with_answer(question, choice, own_words)
        dialogue = dialogue.with_own_words(row.said)
    terms = dict.fromkeys(term for row in rows for term in row.terms)
    return dialogue.model_copy(update={"terms": tuple(terms)})
