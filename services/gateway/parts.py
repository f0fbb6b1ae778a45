"""Parts of the gateway, each built in one place: for its app, its workers and other rooms."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fastapi import APIRouter

from services.contracts.completeness import CompletenessChecks
from services.contracts.execution import Execution
from services.contracts.ingestion import Ingestion
from services.contracts.retrieval import Retrieval
from services.contracts.searching import Searches
from services.contracts.summaries import Summaries
from services.integrations.sources.settings import WebhookSettings
from services.integrations.writeback.service import WriteBack
from services.kit.http.health import Check
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.llm.chat_model import ChatModel
from services.tickets.clarify.answer_handler import AnswerHandler
from services.tickets.clarify.question_policy import QuestionPolicy
from services.tickets.page_quality.service import CoverageService
from services.tickets.run_notes import RunNotes
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.queries import Queries
from services.tickets.triage.team_router import TeamRouter
from services.tickets.walk.fit import Thresholds
from services.web.ui.knowledge.backend import Knowledge


@dataclass(frozen=True)
class GatewayParts:
    """Settings, stores and peers of the gateway, and the parts that several of its rooms share.

    Without `knowledge` the pages of readings, documents and incidents have nothing to show; without
    `execution` there are no pages of runs, without `searches` none of searches.
    """

    settings: GatewaySettings
    platform: PlatformSettings
    database: Database
    outbox: Outbox
    retrieval: Retrieval
    triage: TeamRouter
    write_back: WriteBack
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    thresholds: Thresholds = field(default_factory=Thresholds.shipped)
    model: ChatModel | None = None
    """Language model that words questions, and reads comments that are no plain answer."""
    ingestion: Ingestion | None = None
    knowledge: Knowledge | None = None
    execution: Callable[[], Execution] | None = None
    """Source of the executor; called late, since it calls back."""
    searches: Callable[[], Searches] | None = None
    """Source of the search for causes; called late, since the executor calls the gateway too."""
    summaries: Summaries | None = None
    completeness: CompletenessChecks | None = None
    routers: Iterable[APIRouter] = ()
    """Routers of services that share the app's process."""
    body_limits: Mapping[str, int] = field(default_factory=dict)
    optional: Mapping[str, Check] = field(default_factory=dict)
    """Checks that do not decide whether the app is ready."""

    @cached_property
    def queries(self) -> Queries:
        """Read access to tickets and workflows."""
        return Queries(self.database)

    @cached_property
    def run_notes(self) -> RunNotes:
        """Notes of runs and searches on tickets."""
        return RunNotes(self.database, self.outbox, self.queries, self.write_back)

    @cached_property
    def question_policy(self) -> QuestionPolicy:
        """Policy of questions about tickets; a model may word them."""
        return create_question_policy(self.settings, self.outbox, self.model)

    @cached_property
    def answer_handler(self) -> AnswerHandler:
        """Handler of answers to these questions."""
        return AnswerHandler(self.database, self.outbox, self.question_policy, self.write_back)

    @cached_property
    def coverage(self) -> CoverageService:
        """Reports of pages to mend, alert rules, and pages that no ticket reaches."""
        return CoverageService(
            self.database,
            retrieval=self.retrieval,
            ingestion=self.knowledge.ingestion if self.knowledge else self.ingestion,
            execution=lambda: self.execution() if self.execution else None,
            fit_of=self.thresholds.with_settings(self.settings).fit_of,
        )


def create_question_policy(
    settings: GatewaySettings, outbox: Outbox, model: ChatModel | None
) -> QuestionPolicy:
    """Build the policy of questions about tickets; a model may word them."""
    return QuestionPolicy(outbox, most=settings.clarify_most, is_worded=model is not None)
