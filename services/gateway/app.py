"""Composition root of the gateway."""

from collections.abc import Iterable, Mapping

from fastapi import APIRouter, FastAPI

from services.contracts.completeness import Completing
from services.contracts.execution import Execution
from services.contracts.retrieval import Retrieval
from services.contracts.searching import Searching
from services.contracts.summaries import Summaries
from services.gateway.adoption.endpoints import create_adoption_router
from services.gateway.adoption.marking import (
    record_hand_over,
    record_verdict,
    take_back_hand_over,
)
from services.gateway.adoption.service import AdoptionService
from services.gateway.audit import create_audit_router
from services.gateway.clarify.answering import Answering
from services.gateway.clarify.endpoints import create_clarify_router
from services.gateway.completeness.endpoints import create_completeness_router
from services.gateway.coverage.endpoints import create_coverage_router
from services.gateway.coverage.queries import Coverages
from services.gateway.coverage.service import CoverageService
from services.gateway.endpoints import (
    create_delivery_router,
    create_holder_router,
    create_run_note_router,
    create_ticket_router,
)
from services.gateway.knowledge import Knowledge
from services.gateway.mcp.endpoint import create_mcp_router
from services.gateway.ran import TicketsOfRuns
from services.gateway.service import GatewayService
from services.gateway.settings import GatewaySettings
from services.gateway.sources.reading import Reader
from services.gateway.sources.settings import WebhookSettings
from services.gateway.streams import create_stream_router
from services.gateway.ticket.citations import Citations
from services.gateway.ticket.listing.gauges import TicketGauges
from services.gateway.ticket.queries import Queries
from services.gateway.triage.desk import TriageDesk
from services.gateway.triage.endpoints import create_triage_router
from services.gateway.triage.service import TriageService
from services.gateway.ui import create_pages
from services.gateway.ui.knowledge.documents.upload import with_page_limits
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.sign_in.pages import SignInPages
from services.gateway.walk.dead_letters import DeadLetterOffice
from services.gateway.walk.endpoints import create_retry_router
from services.gateway.walk.fit import Thresholds
from services.gateway.walk.renewing import Renewing
from services.gateway.walk.retrying import Retrying
from services.gateway.work import asking_of
from services.gateway.writeback.service import WriteBack
from services.kit.access.access import Access
from services.kit.access.audit import AuditLog
from services.kit.http.app import Lifespan, create_service_app
from services.kit.http.health import Check
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sign_in.flow import SignIn
from services.kit.sql.database import Database
from services.llm.chat_model import ChatModel


def create_app(
    settings: GatewaySettings,
    platform: PlatformSettings,
    *,
    database: Database,
    outbox: Outbox,
    retrieval: Retrieval,
    triage: TriageDesk,
    write_back: WriteBack | None = None,
    webhooks: WebhookSettings | None = None,
    routers: Iterable[APIRouter] = (),
    body_limits: Mapping[str, int] | None = None,
    checks: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    lifespan: Lifespan | None = None,
    model: ChatModel | None = None,
    knowledge: Knowledge | None = None,
    execution: Execution | None = None,
    searching: Searching | None = None,
    summaries: Summaries | None = None,
    thresholds: Thresholds | None = None,
    completing: Completing | None = None,
) -> FastAPI:
    """The gateway's app; `routers` of services that share its process are served beside it.

    Without `knowledge` the pages of readings, documents and incidents have nothing to show, and
    without `execution` there are none of runs, and without `searching` none of searches.

    It stores tickets and queues their walks; `work.GatewayWork` is what workers do with them. What
    ticket systems sign is let in without a key. Without `write_back` no system is told of what is
    asked or decided here.

    Raises:
        MappingError: The file of mappings cannot be used.
    """
    reader = Reader(settings, webhooks or WebhookSettings())
    answering = Answering(database, outbox, asking_of(settings, outbox, model), write_back)
    retrying = Retrying(database, outbox)
    renewing = Renewing(
        database,
        outbox,
        knowledge.readings if knowledge else None,
        knowledge.ingestion if knowledge else None,
    )
    service = GatewayService(
        database,
        outbox,
        retrieval,
        settings,
        reader=reader,
        answering=answering,
        retrying=retrying,
        announcer=write_back,
    )
    adoption = AdoptionService(
        database, outbox, retrieval, knowledge.ingestion if knowledge else None
    )
    deciding = TriageService(
        database,
        outbox,
        triage,
        write_back,
        record_verdict=record_verdict,
        record_hand_over=record_hand_over,
        take_back_hand_over=take_back_hand_over,
        work_of=adoption.work,
        searches=searching is not None,
    )
    queries, audit = Queries(database), AuditLog(database)
    coverages, citations = Coverages(database), Citations(database)
    covering = CoverageService(
        database,
        retrieval=retrieval,
        ingestion=knowledge.ingestion if knowledge else None,
        execution=lambda: execution,
        fit_of=(thresholds or Thresholds.shipped()).with_settings(settings).fit_of,
    )
    known = Known(knowledge, coverages, citations, covering, execution)
    access = Access.of(platform, database)
    sign_in = SignInPages(access, SignIn.of(platform, access, database))
    app = create_service_app(
        "gateway",
        title="FlowXpert gateway",
        routers=[
            create_delivery_router(service, reader),
            create_ticket_router(service),
            create_holder_router(service),
            create_run_note_router(TicketsOfRuns(database, outbox, write_back)),
            create_triage_router(deciding),
            create_adoption_router(adoption, queries),
            create_clarify_router(answering),
            create_retry_router(retrying, renewing, queries, DeadLetterOffice(database, outbox)),
            create_stream_router(service),
            create_audit_router(audit),
            create_coverage_router(coverages, citations, covering),
            *([create_completeness_router(completing, known.readings)] if completing else []),
            create_mcp_router(
                service,
                deciding,
                adoption,
                retrieval,
                execution=execution,
                composing=knowledge.composing if knowledge else None,
            ),
            *create_pages(
                service,
                deciding,
                adoption,
                renewing,
                known=known,
                audit=audit,
                execution=execution,
                searching=searching,
                summaries=summaries,
                completing=completing,
            ),
            sign_in.router(),
            *routers,
        ],
        settings=platform,
        access=access,
        checks={"database": database.check, **(checks or {})},
        optional=optional,
        gauges={"tickets": TicketGauges(database, [source.name for source in reader.sources]).tell},
        body_limits=with_page_limits(body_limits or {}),
        lifespan=lifespan,
    )
    app.state.error_page = sign_in.refusal
    app.state.no_pages = ("/v1/", "/workflow", "/metrics", "/healthz", "/readyz")
    return app
