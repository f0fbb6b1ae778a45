"""Tasks that workers run on the gateway's queue, composed alike for one process and for many."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from sqlalchemy.orm import Session

from services.contracts.ingestion import Ingestion
from services.contracts.planner import Planner
from services.contracts.retrieval import Retrieval
from services.contracts.scorer import Scorer
from services.contracts.searching import StartSearch
from services.contracts.summaries import Summaries
from services.gateway.parts import GatewayParts, create_question_policy
from services.integrations.writeback.service import WRITE_BACK_TASK, WriteBack
from services.integrations.writeback.service import park as park_write_back
from services.integrations.writeback.weekly import DIGEST_TASK, LOOK_EVERY_S, WeeklyDigest
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.queue.workforce import Periodic
from services.kit.sql.database import Database
from services.llm.chat_model import ChatModel
from services.tickets.adoption.doubts import DOUBT_TASK, DoubtReporter
from services.tickets.archive import TicketArchive
from services.tickets.clarify.comment_reader import CommentReader
from services.tickets.clarify.question_policy import WORD_TASK
from services.tickets.clarify.question_selection import QuestionSelector
from services.tickets.clarify.question_writer import QuestionWriter
from services.tickets.erasure import ERASE_TASK, TicketErasure
from services.tickets.page_choice.chance import ChoiceChance
from services.tickets.page_choice.page_chooser import PageChooser
from services.tickets.page_feedback import PageFeedbackStore
from services.tickets.page_quality.dismissals import Dismissals
from services.tickets.retention import Retention
from services.tickets.run_notes import DiagnosticRunStarter
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.queries import Queries
from services.tickets.ticket.queue import (
    ARCHIVE_TASK,
    CHOOSE_PAGE_TASK,
    FORGET_CASES_TASK,
    LEARN_TICKET_TASK,
    LOOK_TASK,
    READ_COMMENT_TASK,
    SEARCH_TASK,
    WALK_TASK,
)
from services.tickets.triage.service import TriageService
from services.tickets.triage.team_router import LEARN_TASK, TeamRouter
from services.tickets.walk.catch_up import CATCH_UP_TASK, CatchUp
from services.tickets.walk.context_builder import ContextBuilder
from services.tickets.walk.fit import Thresholds
from services.tickets.walk.page_reranker import PageReranker
from services.tickets.walk.walk import Walk
from services.tickets.walk.walk_store import WalkStore, park

_log = structlog.get_logger()

PURGE_EVERY_S = 600.0
MOST_PURGED = 5_000
"""Most tickets deleted in one run; the rest is left to the next."""


@dataclass(frozen=True)
class GatewayWork:
    """Tasks of the gateway over the other services."""

    parts: GatewayParts
    ingestion: Ingestion
    planner: Planner
    scorer: Scorer
    choice_chance: ChoiceChance = field(default_factory=ChoiceChance.shipped)
    digest: WeeklyDigest | None = None
    summaries: Callable[[], Summaries] | None = None
    """The executor's summaries; None where there is no executor."""

    def register(self) -> None:
        """Register all tasks with the outbox."""
        parts, settings = self.parts, self.parts.settings
        database, outbox, write_back = parts.database, parts.outbox, parts.write_back
        walk = create_walk(
            settings,
            database=database,
            outbox=outbox,
            retrieval=parts.retrieval,
            planner=self.planner,
            scorer=self.scorer,
            write_back=write_back,
            triage=parts.triage,
            thresholds=parts.thresholds,
            choice_chance=self.choice_chance,
            model=parts.model,
            looks=parts.execution is not None,
            searches=parts.searches is not None,
        )
        wording = create_wording(
            settings, database=database, outbox=outbox, write_back=write_back, model=parts.model
        )
        register_tasks(outbox, walk, write_back, wording)
        archive = TicketArchive(
            database, outbox, self.ingestion, parts.queries, is_on=settings.archive_resolved
        )
        register_learning(outbox, parts.triage, parts.queries, archive)
        doubts = DoubtReporter(database, outbox, self.ingestion, parts.retrieval)
        comments = CommentReader(database, outbox, parts.answer_handler)
        if walk.page_reranker is not None:
            outbox.register(CHOOSE_PAGE_TASK, walk.page_reranker.run, on_parked=_leave_parked)
        outbox.register(READ_COMMENT_TASK, comments.run, on_parked=_leave_parked)
        outbox.register(DOUBT_TASK, doubts.report, on_parked=_leave_parked)
        erasure = TicketErasure(database, self.ingestion, parts.triage, self.summaries)
        outbox.register(ERASE_TASK, erasure.run, on_parked=_leave_parked)
        if parts.execution is not None:
            starter = DiagnosticRunStarter(parts.execution)
            outbox.register(LOOK_TASK, starter.run, on_parked=_leave_parked)
        if parts.searches is not None:
            outbox.register(SEARCH_TASK, self._start_search, on_parked=_leave_parked)
        if self.digest is not None:
            outbox.register(DIGEST_TASK, self.digest.run, on_parked=_leave_parked)
            outbox.register("gateway.digest", self.digest.run, on_parked=_leave_parked)

    def periodic(self) -> tuple[Periodic | None, ...]:
        """Return the jobs that workers run at intervals beside the tasks."""
        digest_check = self.digest.put_due if self.digest is not None else None
        dismissals = Dismissals(self.parts.database)
        return (
            schedule_purge(self.parts.database, self.parts.settings),
            Periodic(
                "dismissals",
                lambda: dismissals.forget_gone(self.ingestion),
                every_s=PURGE_EVERY_S,
            ),
            Periodic("digest", digest_check, every_s=LOOK_EVERY_S) if digest_check else None,
        )

    def _start_search(self, ticket_id: str) -> None:
        """Search for the cause if no workflow fits and the policy allows it."""
        assert self.parts.searches is not None  # noqa: S101 - it is registered with it alone
        try:
            self.parts.searches().start(StartSearch(ticket_id=ticket_id, at_once=True))
        except (ConflictError, InvalidInputError, NotFoundError) as refusal:
            _log.info("gateway.not_searched", ticket_id=ticket_id, reason=str(refusal))


def schedule_purge(database: Database, settings: GatewaySettings) -> Periodic | None:
    """Return the job that deletes old tickets; None if tickets are kept for ever."""
    if settings.keep_days is None:
        return None
    retention = Retention(database, settings.keep_days)

    def purge() -> None:
        retention.purge(most=MOST_PURGED)
        database.wipe()

    return Periodic("purge", purge, every_s=PURGE_EVERY_S)


def register_tasks(
    outbox: Outbox,
    walk: Walk,
    write_back: WriteBack,
    wording: QuestionWriter | None = None,
) -> None:
    """Register the tasks that walk tickets, write back, retry degraded walks and word questions.

    A walk that is given up fails its ticket; a system that cannot be told is noted on it. Without
    `wording` no model is asked about questions.
    """
    outbox.register(WALK_TASK, walk.run, on_parked=park)
    outbox.register(WRITE_BACK_TASK, write_back.run, on_parked=park_write_back)
    # Before write-backs had a queue of their own they were put under this name.
    outbox.register("gateway.write_back", write_back.run, on_parked=park_write_back)
    outbox.register(CATCH_UP_TASK, walk.catch_up.run)
    if wording is not None:
        outbox.register(WORD_TASK, wording.run, on_parked=wording.park)


def register_learning(
    outbox: Outbox,
    team_router: TeamRouter,
    queries: Queries,
    archive: TicketArchive | None = None,
) -> None:
    """Register the tasks that learn past tickets and archive the resolved ones."""
    outbox.register(LEARN_TASK, team_router.learn_cases, on_parked=_leave_parked)
    service = TriageService(outbox.database, outbox, team_router, queries)

    def learn_ticket(ticket_id: str) -> None:
        service.learn_ticket(ticket_id)
        if archive is not None:
            archive.put(ticket_id)

    outbox.register(LEARN_TICKET_TASK, learn_ticket, on_parked=_leave_parked)
    if archive is not None:
        outbox.register(ARCHIVE_TASK, archive.run, on_parked=_leave_parked)
        outbox.register(FORGET_CASES_TASK, archive.forget, on_parked=_leave_parked)


def _leave_parked(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """Do nothing: no ticket waits for the task, whose row stays parked with its reason."""


def create_walk(
    settings: GatewaySettings,
    *,
    database: Database,
    outbox: Outbox,
    retrieval: Retrieval,
    planner: Planner,
    scorer: Scorer,
    write_back: WriteBack,
    triage: TeamRouter | None = None,
    thresholds: Thresholds | None = None,
    choice_chance: ChoiceChance | None = None,
    model: ChatModel | None = None,
    looks: bool = False,
    searches: bool = False,
) -> Walk:
    """Build the walk over these services, for `register_tasks`.

    `looks` and `searches` say whether diagnostic runs and searches for causes may follow. With a
    model, questions about tickets are worded again (see `create_wording`), and it is asked which
    of the nearest pages is the right one.
    """
    walk_store = WalkStore(
        database,
        outbox,
        write_back,
        create_question_policy(settings, outbox, model),
        CatchUp(database, outbox, settings),
        looks=looks,
        searches=searches,
    )
    fit_thresholds = (thresholds or Thresholds.shipped()).with_settings(settings)
    page_chooser = None
    if model is not None and settings.choose_page:
        fitted_chance = choice_chance or ChoiceChance.shipped()
        page_chooser = PageChooser(
            database, model, fitted_chance, within_s=settings.choose_page_within_s
        )
    context_builder = ContextBuilder(
        retrieval, fit_thresholds, page_chooser, PageFeedbackStore(database)
    )
    return Walk(
        walk_store,
        context_builder=context_builder,
        page_reranker=PageReranker(
            database, outbox, walk_store, context_builder, max_wait_s=settings.model_within_s
        ),
        planner=planner,
        scorer=scorer,
        clarify=QuestionSelector(settings.clarify_most, settings.clarify_least_gain),
        nearest_documents=settings.nearest_documents,
        model_within_s=settings.model_within_s,
        degrade_after_s=settings.degrade_after_s,
        triage=triage,
    )


def create_wording(
    settings: GatewaySettings,
    *,
    database: Database,
    outbox: Outbox,
    write_back: WriteBack,
    model: ChatModel | None,
) -> QuestionWriter | None:
    """Build the wording of questions by the model, for `register_tasks`; None without one."""
    if model is None:
        return None
    return QuestionWriter(
        database,
        outbox,
        model,
        write_back,
        within_s=settings.clarify_within_s,
        wanted_s=settings.model_within_s,
    )
