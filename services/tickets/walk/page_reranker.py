"""A model's choice of the page after a workflow was served: it takes its place, or is offered."""

import time

import structlog
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.kit.errors import FlowXpertError
from services.kit.queue.outbox import NORMAL, Outbox
from services.kit.sql.database import Database
from services.tickets.metrics import PAGE_CHOICES
from services.tickets.page_choice.page_chooser import PageChoice
from services.tickets.tables import TicketRow
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import lock_ticket, offer_page, walk_again
from services.tickets.walk.activity import BEFORE_WORK, has_human_activity, is_latest
from services.tickets.walk.context_builder import ContextBuilder, TicketContext
from services.tickets.walk.walk_store import WalkStore

_PLANNED = frozenset({TicketStatus.PLANNED.value})
_log = structlog.get_logger()


class PageReranker:
    """Reranking of the pages by a model after the walk; the next walk goes by its answer."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        tickets: WalkStore,
        context_builder: ContextBuilder,
        *,
        max_wait_s: float,
    ) -> None:
        """Leave a ticket as it is once it has waited for `max_wait_s` seconds."""
        self._database = database
        self._outbox = outbox
        self._tickets = tickets
        self._context_builder = context_builder
        self._max_wait_s = max_wait_s

    def run(self, ticket_id: str, walk: int, since: float) -> None:
        """Ask the model, unless the ticket was walked again, is over, or has waited too long."""
        opened = self._tickets.concluded(ticket_id, walk)
        is_late = time.time() - since > self._max_wait_s
        retrieved = None if opened is None or is_late else self._context_builder.retrieve(opened)
        choice = self._ask_model(retrieved) if retrieved and retrieved.fit else None
        with self._database.session() as session:
            lock_ticket(session, ticket_id)
            row = session.get(TicketRow, ticket_id)
            if retrieved and choice and row and is_latest(row, walk, _PLANNED):
                self._apply_choice(session, row, retrieved, choice)
            self._outbox.finish(session)

    def _ask_model(self, retrieved: TicketContext) -> PageChoice | None:
        """Return the model's choice; None, and retrieval's page stays, if it has none to use."""
        chooser = self._context_builder.chooser
        try:
            choice = chooser.ask(retrieved.ticket, retrieved.context) if chooser else None
        except FlowXpertError as error:
            PAGE_CHOICES.labels("failed").inc()
            _log.warning("gateway.page_not_chosen", reason=str(error))
            return None
        if choice is not None and choice.page in retrieved.words.refused_by:
            choice = None
        if choice is None:
            PAGE_CHOICES.labels("not_heard").inc()
        return choice

    def _apply_choice(
        self, session: Session, row: TicketRow, retrieved: TicketContext, choice: PageChoice
    ) -> None:
        """Walk again if the choice changes what is shown and nobody works with it."""
        is_other = choice.page != choice.first
        PAGE_CHOICES.labels(_kind(choice)).inc()
        if not is_other and choice.fit is retrieved.fit:
            return
        facts: dict[str, object] = {
            "document": choice.chosen.page or choice.page,
            "by": choice.model,
        }
        if not has_human_activity(session, row.id, besides=BEFORE_WORK):
            add_events(session, row.id, [Note("page_chosen", facts)])
            walk_again(session, self._outbox, row.id, priority=NORMAL)
        elif is_other:
            offer_page(session, row.id, choice.page)
            add_events(session, row.id, [Note("page_offered", facts)])


def _kind(choice: PageChoice) -> str:
    if choice.chosen.page is None:
        return "none"
    if choice.is_overruled:
        return "overruled"
    return "same" if choice.page == choice.first else "other"
