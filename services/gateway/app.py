"""Composition root of the gateway."""

from collections.abc import Mapping
from dataclasses import replace

from fastapi import FastAPI

from services.gateway.audit import create_audit_router
from services.gateway.parts import GatewayParts
from services.gateway.teaching import create_teaching_router
from services.integrations.endpoints import create_delivery_router
from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.systems.generic import GENERIC
from services.kit.access.access import Access
from services.kit.access.audit import AuditLog
from services.kit.http.app import Lifespan, create_service_app
from services.kit.http.health import Check
from services.kit.sign_in.flow import SignIn
from services.tickets.adoption.endpoints import create_adoption_router
from services.tickets.adoption.feedback_recorder import (
    record_hand_over,
    record_verdict,
    undo_hand_over,
)
from services.tickets.adoption.service import AdoptionService
from services.tickets.clarify.endpoints import create_clarify_router
from services.tickets.endpoints import (
    create_holder_router,
    create_run_note_router,
    create_ticket_router,
)
from services.tickets.page_quality.endpoints import (
    create_completeness_router,
    create_coverage_router,
)
from services.tickets.page_quality.queries import CoverageQueries
from services.tickets.service import TicketService
from services.tickets.suggestions.endpoints import create_suggestion_router
from services.tickets.suggestions.service import SuggestedEditService
from services.tickets.teaching import TeachingService
from services.tickets.ticket.citations import Citations
from services.tickets.ticket.listing.gauges import TicketGauges
from services.tickets.triage.endpoints import create_triage_router
from services.tickets.triage.service import TriageService
from services.tickets.walk.dead_letters import DeadLetterOffice
from services.tickets.walk.endpoints import create_retry_router
from services.tickets.walk.walk_retry import WalkRetry
from services.tickets.walk.workflow_refresh import WorkflowRefresh
from services.web.mcp.endpoint import create_mcp_router
from services.web.streams import create_stream_router
from services.web.ui import create_pages
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.documents import with_page_limits
from services.web.ui.sign_in import SignInPages


def create_app(
    parts: GatewayParts,
    *,
    checks: Mapping[str, Check] | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Build the gateway's app; `routers` of services that share its process are served with it.

    The app stores tickets and queues their walks; `work.GatewayWork` is what workers do with them.
    Deliveries that a ticket system signed need no key.

    Raises:
        MappingError: The file of mappings cannot be used.
    """
    settings, platform, database, outbox = (
        parts.settings,
        parts.platform,
        parts.database,
        parts.outbox,
    )
    retrieval, write_back, knowledge = parts.retrieval, parts.write_back, parts.knowledge
    answer_handler, completing = parts.answer_handler, parts.completeness
    execution = parts.execution() if parts.execution else None
    searching = parts.searches() if parts.searches else None
    reader = DeliveryReader(settings, parts.webhooks)
    walk_retry = WalkRetry(database, outbox)
    workflow_refresh = WorkflowRefresh(
        database,
        outbox,
        parts.queries,
        knowledge.readings if knowledge else None,
        knowledge.ingestion if knowledge else None,
    )
    service = TicketService(
        database,
        outbox,
        retrieval,
        settings,
        queries=parts.queries,
        read_own=lambda raw: reader.read(raw, GENERIC.name),
        answer_handler=answer_handler,
        walk_retry=walk_retry,
        announcer=write_back,
    )
    adoption = AdoptionService(
        database, outbox, retrieval, knowledge.ingestion if knowledge else None
    )
    triage_service = TriageService(
        database,
        outbox,
        parts.triage,
        parts.queries,
        write_back,
        record_verdict=record_verdict,
        record_hand_over=record_hand_over,
        take_back_hand_over=undo_hand_over,
        work_of=adoption.work,
        searches=searching is not None,
    )
    queries, audit = parts.queries, AuditLog(database)
    coverages, citations = CoverageQueries(database), Citations(database)
    knowledge_backend = KnowledgeBackend(knowledge, coverages, citations, parts.coverage, execution)
    suggested = SuggestedEditService(
        database, knowledge.ingestion if knowledge else None, knowledge_backend.readings
    )
    knowledge_backend = replace(knowledge_backend, suggested_edits=suggested)
    teaching = TeachingService(database, outbox)
    knowledge_backend = replace(knowledge_backend, teaching=teaching)
    access = Access.of(platform, database)
    sign_in = SignInPages(access, SignIn.of(platform, access, database))
    app = create_service_app(
        "gateway",
        title="FlowXpert gateway",
        routers=[
            create_delivery_router(service, reader),
            create_ticket_router(service),
            create_holder_router(service),
            create_run_note_router(parts.run_notes),
            create_triage_router(triage_service),
            create_adoption_router(adoption, queries),
            create_clarify_router(answer_handler),
            create_retry_router(
                walk_retry, workflow_refresh, queries, DeadLetterOffice(database, outbox)
            ),
            create_stream_router(service),
            create_audit_router(audit),
            create_teaching_router(teaching),
            create_coverage_router(coverages, citations, parts.coverage),
            create_suggestion_router(suggested),
            *(
                [create_completeness_router(completing, knowledge_backend.readings)]
                if completing
                else []
            ),
            create_mcp_router(
                service,
                triage_service,
                adoption,
                retrieval,
                execution=execution,
                composing=knowledge.composing if knowledge else None,
            ),
            *create_pages(
                service,
                triage_service,
                adoption,
                workflow_refresh,
                knowledge_backend=knowledge_backend,
                audit=audit,
                execution=execution,
                searching=searching,
                summaries=parts.summaries,
                completing=completing,
            ),
            sign_in.router(),
            *parts.routers,
        ],
        settings=platform,
        access=access,
        checks={"database": database.check, **(checks or {})},
        optional=parts.optional,
        gauges={"tickets": TicketGauges(database, [source.name for source in reader.sources]).tell},
        body_limits=with_page_limits(parts.body_limits),
        lifespan=lifespan,
    )
    app.state.queries = queries
    app.state.error_page = sign_in.refusal
    app.state.no_pages = ("/v1/", "/workflow", "/metrics", "/healthz", "/readyz")
    return app
