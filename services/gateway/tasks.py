"""Queue entries of the gateway, and what it does every so often."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from sqlalchemy.orm import Session

from services.contracts.searching import Searching, StartSearch
from services.gateway.adoption.doubts import DOUBT_TASK, Doubts
from services.gateway.archive.ticket_archive import ARCHIVE_TASK, TicketArchive
from services.gateway.clarify.asking import WORD_TASK
from services.gateway.clarify.comment_reading import CommentReader
from services.gateway.clarify.wording import Wording
from services.gateway.ran import Looking
from services.gateway.settings import GatewaySettings
from services.gateway.ticket.queue import (
    CHOOSE_PAGE_TASK,
    FORGET_CASES_TASK,
    LEARN_TICKET_TASK,
    LOOK_TASK,
    READ_COMMENT_TASK,
    SEARCH_TASK,
    WALK_TASK,
    WITHDRAW_TASK,
)
from services.gateway.ticket.retention import Retention
from services.gateway.triage.desk import LEARN_TASK, TriageDesk
from services.gateway.triage.service import TriageService
from services.gateway.walk.catch_up import CATCH_UP_TASK
from services.gateway.walk.reconsidering import Reconsidering
from services.gateway.walk.tickets import park
from services.gateway.walk.walk import Walk
from services.gateway.writeback.service import WRITE_BACK_TASK, WriteBack
from services.gateway.writeback.service import park as park_write_back
from services.gateway.writeback.weekly import DIGEST_TASK, WeeklyDigest
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.queue.periodic import Periodic
from services.kit.sql.database import Database

_log = structlog.get_logger()

PURGE_EVERY_S = 600.0
MOST_PURGED = 5_000
"""Tickets in one go; what is left is for the next."""


def purging(database: Database, settings: GatewaySettings) -> Periodic | None:
    """Deletes tickets that are kept long enough; None where they are kept for ever."""
    if settings.keep_days is None:
        return None
    keeping = Retention(database, settings.keep_days)
    return Periodic("purge", lambda: keeping.purge(most=MOST_PURGED), every_s=PURGE_EVERY_S)


def register_tasks(
    outbox: Outbox,
    walk: Walk,
    write_back: WriteBack,
    wording: Wording | None = None,
) -> None:
    """Make workers walk tickets, and tell who is to know of it.

    A walk that is given up fails its ticket; a system that cannot be told is noted on it. Without
    `wording` no model is asked about questions.
    """
    outbox.register(WALK_TASK, walk.run, on_parked=park)
    outbox.register(WRITE_BACK_TASK, write_back.run, on_parked=park_write_back)
    outbox.register(CATCH_UP_TASK, walk.catching_up.run)
    if wording is not None:
        outbox.register(WORD_TASK, wording.run, on_parked=wording.park)


def register_choice(outbox: Outbox, reconsidering: Reconsidering | None) -> None:
    """Make workers ask a model which of the pages found is the one."""
    if reconsidering is not None:
        outbox.register(CHOOSE_PAGE_TASK, reconsidering.run, on_parked=_keep)


def register_comments(outbox: Outbox, reader: CommentReader) -> None:
    """Make workers read comments from ticket systems."""
    outbox.register(READ_COMMENT_TASK, reader.run, on_parked=_keep)


def register_learning(
    outbox: Outbox, desk: TriageDesk, archiving: TicketArchive | None = None
) -> None:
    """Make workers learn past tickets, and archive the resolved ones."""
    outbox.register(LEARN_TASK, desk.take_in, on_parked=_keep)
    service = TriageService(outbox.database, outbox, desk)

    def learn_ticket(ticket_id: str) -> None:
        service.learn_ticket(ticket_id)
        if archiving is not None:
            archiving.put(ticket_id)

    outbox.register(LEARN_TICKET_TASK, learn_ticket, on_parked=_keep)
    if archiving is not None:
        outbox.register(ARCHIVE_TASK, archiving.run, on_parked=_keep)
        outbox.register(FORGET_CASES_TASK, archiving.forget, on_parked=_keep)


def register_looking(outbox: Outbox, looking: Looking) -> None:
    """Make workers tell the executor of workflows that surely fit."""
    outbox.register(LOOK_TASK, looking.run, on_parked=_keep)


def register_doubts(outbox: Outbox, doubting: Doubts) -> None:
    """Make workers tell ingestion which steps were found wrong."""
    outbox.register(DOUBT_TASK, doubting.tell, on_parked=_keep)
    outbox.register(WITHDRAW_TASK, doubting.withdraw, on_parked=_keep)


def register_digest(outbox: Outbox, digest: WeeklyDigest) -> None:
    """Make workers tell those who look after pages."""
    outbox.register(DIGEST_TASK, digest.run, on_parked=_keep)


def register_searches(outbox: Outbox, searching: Callable[[], Searching] | None) -> None:
    """Make workers have causes searched for where no workflow fits, if the policy lets them."""
    if searching is None:
        return

    def start(ticket_id: str) -> None:
        try:
            searching().start(StartSearch(ticket_id=ticket_id, at_once=True))
        except (ConflictError, InvalidInputError, NotFoundError) as refusal:
            _log.info("gateway.not_searched", ticket_id=ticket_id, reason=str(refusal))

    outbox.register(SEARCH_TASK, start, on_parked=_keep)


def _keep(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Nothing waits for it: the row stays parked with its reason."""
