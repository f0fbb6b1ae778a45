"""The gateway as a deployable."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.contracts.composing import COMPOSED_WITHIN_S
from services.gateway.settings import GatewaySettings
from services.gateway.sources.settings import WebhookSettings
from services.gateway.writeback.settings import WriteBackSettings
from services.room.descriptor import NOBODY, OpenRoom, Room
from services.room.footprint import Footprint, Process, Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI

    from services.contracts.coverage import Covering
    from services.contracts.gateway import Tickets
    from services.gateway.triage.desk import TriageDesk
    from services.gateway.writeback.service import WriteBack
    from services.kit.http.health import Check
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores

_ANSWER_WITHIN_S = 30.0
"""Longest that planner and scorer may take for what needs no language model."""


class Receiving(NamedTuple):
    """What of the gateway commands use in its process."""

    settings: GatewaySettings
    triage: TriageDesk
    write_back: WriteBack
    tickets: Tickets
    covering: Covering


def build(stores: Stores, peers: Peers) -> OpenRoom[Receiving]:
    """The gateway: its app takes tickets in, its tasks walk them through the peers."""
    from services.gateway.app import create_app
    from services.gateway.completeness.service import CompletingService
    from services.gateway.coverage.service import CoverageService
    from services.gateway.knowledge import Knowledge
    from services.gateway.page_choice.chance import ChoiceChance
    from services.gateway.ran import TicketsOfRuns
    from services.gateway.triage.desk import TriageDesk
    from services.gateway.walk.fit import Thresholds
    from services.gateway.work import GatewayWork
    from services.gateway.writeback.service import WriteBack
    from services.gateway.writeback.weekly import WeeklyDigest

    settings = GatewaySettings()
    model = stores.shared_model
    writing = WriteBackSettings()
    if writing.public_url is None:
        writing = writing.model_copy(update={"public_url": stores.settings.public_url})
    write_back = WriteBack(writing, stores.database, stores.outbox)
    triage = TriageDesk(
        stores.database, stores.graph, stores.embedder, settings, model=stores.model
    )
    thresholds = Thresholds.of_folder(stores.folder)
    patient = peers.within(settings.model_within_s + _ANSWER_WITHIN_S)
    covering = CoverageService(
        stores.database,
        retrieval=peers.retrieval,
        ingestion=peers.ingestion,
        execution=lambda: peers.execution,
        fit_of=thresholds.with_settings(settings).fit_of,
    )

    digest = WeeklyDigest(
        stores.database,
        stores.outbox,
        write_back=write_back,
        covering=covering,
        settings=writing,
    )
    work = GatewayWork(
        settings,
        stores.database,
        stores.outbox,
        retrieval=peers.retrieval,
        planner=patient.planner,
        scorer=patient.scorer,
        ingestion=peers.ingestion,
        triage=triage,
        write_back=write_back,
        thresholds=thresholds,
        choice_chance=ChoiceChance.of_folder(stores.folder),
        model=model,
        execution=lambda: peers.execution,
        searching=lambda: peers.searching,
        digest=digest if writing.digest_day else None,
    )

    def app(checks: Mapping[str, Check]) -> FastAPI:
        asked = peers.in_callers_name()
        fronts = asked.fronts
        return create_app(
            settings,
            stores.settings,
            database=stores.database,
            outbox=stores.outbox,
            retrieval=peers.retrieval,
            triage=triage,
            write_back=write_back,
            routers=[router for front in fronts for router in front.routers],
            body_limits={
                path: limit for front in fronts for path, limit in front.body_limits.items()
            },
            checks=checks,
            # Tickets are taken in and wait, whatever of these is away.
            optional={**peers.checks(), **stores.model_check()},
            model=model,
            knowledge=Knowledge(
                asked.ingestion,
                asked.readings,
                peers.retrieval,
                asked.proposals,
                peers.within(COMPOSED_WITHIN_S).composing,
            ),
            execution=asked.execution,
            searching=asked.searching,
            summaries=asked.summaries,
            thresholds=thresholds,
            completing=CompletingService(stores.database, peers.retrieval, stores.embedder),
        )

    return OpenRoom(
        Receiving(
            settings,
            triage,
            write_back,
            TicketsOfRuns(stores.database, stores.outbox, write_back),
            covering,
        ),
        app,
        work.register,
        periodic=work.periodic(),
    )


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.gateway.app import create_app
    from services.gateway.completeness.service import CompletingService
    from services.kit.queue.outbox import Outbox
    from services.kit.sql.database import Database

    database = Database.memory()
    return create_app(
        GatewaySettings(),
        settings,
        database=database,
        outbox=Outbox(database),
        retrieval=NOBODY,
        triage=NOBODY,
        completing=CompletingService(database, NOBODY, NOBODY),
    )


ROOM = Room(
    "gateway",
    "takes tickets in, clarifies, triages, walks them through the others, keeps tickets and"
    " workflows, serves pages, API and MCP",
    build,
    describe,
    Footprint(
        stores=(Store.POSTGRESQL, Store.REDIS, Store.NEO4J),
        calls=("ingestion", "retrieval", "planner", "scorer", "executor"),
        serves=Process(up_to=6, cpu="500m", model="planner", goes_outside=True),
        works=Process(up_to=12, model="planner", goes_outside=True),
        is_published=True,
        secrets={"FLOWXPERT_WEBHOOK_ALERTMANAGER_SECRET": "alertmanager-secret"},
    ),
    settings=(GatewaySettings, WebhookSettings, WriteBackSettings),
    has_queue=True,
    lanes=("gateway_model",),
)
