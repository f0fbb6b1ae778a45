"""A model's choice of the page after a workflow was served: it takes its place, or is offered."""

import time

import structlog
from sqlalchemy.orm import Session

from services.contracts.ticket import TicketStatus
from services.gateway.metrics import PAGE_CHOICES
from services.gateway.page_choice.choosing import Choice
from services.gateway.tables import TicketRow
from services.gateway.ticket.events import Note, add_events
from services.gateway.ticket.lifecycle import lock_ticket, offer_page, walk_again
from services.gateway.walk.finding import Finding, Found
from services.gateway.walk.tickets import Tickets
from services.gateway.walk.untouched import BEFORE_WORK, is_latest, is_worked_with
from services.kit.errors import FlowXpertError
from services.kit.queue.outbox import NORMAL, Outbox
from services.kit.sql.database import Database

_PLANNED = frozenset({TicketStatus.PLANNED.value})
_log = structlog.get_logger()


class Reconsidering:
    """Asks the model behind a walk; what it answers is kept, and the next walk goes by it."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        tickets: Tickets,
        finding: Finding,
        *,
        wanted_s: float,
    ) -> None:
        """A ticket that has waited for `wanted_s` seconds is left as it is."""
        self._database = database
        self._outbox = outbox
        self._tickets = tickets
        self._finding = finding
        self._wanted_s = wanted_s

    def run(self, ticket_id: str, walk: int, since: float) -> None:
        """Ask, unless the ticket was walked again, is over, or has waited for too long."""
        opened = self._tickets.concluded(ticket_id, walk)
        is_late = time.time() - since > self._wanted_s
        found = None if opened is None or is_late else self._finding.by_retrieval(opened)
        choice = self._asked(found) if found and found.fit else None
        with self._database.session() as session:
            lock_ticket(session, ticket_id)
            row = session.get(TicketRow, ticket_id)
            if found and choice and row and is_latest(row, walk, _PLANNED):
                self._follow(session, row, found, choice)
            self._outbox.finish(session)

    def _asked(self, found: Found) -> Choice | None:
        """None where the model has nothing to say, or does not answer: retrieval's page stays."""
        choosing = self._finding.choosing
        try:
            choice = choosing.ask(found.ticket, found.context) if choosing else None
        except FlowXpertError as error:
            PAGE_CHOICES.labels("failed").inc()
            _log.warning("gateway.page_not_chosen", reason=str(error))
            return None
        if choice is not None and choice.page in found.words.refused_by:
            choice = None
        if choice is None:
            PAGE_CHOICES.labels("not_heard").inc()
        return choice

    def _follow(self, session: Session, row: TicketRow, found: Found, choice: Choice) -> None:
        """Walk again where the choice changes what is shown and nobody works with it."""
        is_other = choice.page != choice.first
        PAGE_CHOICES.labels(_kind(choice)).inc()
        if not is_other and choice.fit is found.fit:
            return
        facts: dict[str, object] = {
            "document": choice.chosen.page or choice.page,
            "by": choice.model,
        }
        if not is_worked_with(session, row.id, besides=BEFORE_WORK):
            add_events(session, row.id, [Note("page_chosen", facts)])
            walk_again(session, self._outbox, row.id, priority=NORMAL)
        elif is_other:
            offer_page(session, row.id, choice.page)
            add_events(session, row.id, [Note("page_offered", facts)])


def _kind(choice: Choice) -> str:
    if choice.chosen.page is None:
        return "none"
    if choice.is_overruled:
        return "overruled"
    return "same" if choice.page == choice.first else "other"
