"""The gateway as a deployable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.contracts.composing import COMPOSED_WITHIN_S
from services.integrations.sources.settings import WebhookSettings
from services.integrations.writeback.settings import WriteBackSettings
from services.room.descriptor import (
    NO_SERVICE,
    Footprint,
    ProcessResources,
    Room,
    RunningRoom,
    Store,
)
from services.tickets.settings import GatewaySettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI

    from services.gateway.parts import GatewayParts
    from services.kit.http.health import Check
    from services.kit.settings import PlatformSettings
    from services.room.peers import Peers
    from services.room.stores import Stores

_ANSWER_WITHIN_S = 30.0
"""Longest time that planner and scorer may take for work without a language model."""


def build(stores: Stores, peers: Peers) -> RunningRoom[GatewayParts]:
    """Build the gateway: its app takes tickets in, its tasks walk them through the peers."""
    from services.gateway.app import create_app
    from services.gateway.parts import GatewayParts
    from services.gateway.work import GatewayWork
    from services.integrations.writeback.service import WriteBack
    from services.integrations.writeback.weekly import WeeklyDigest
    from services.kit.access.caller import PLATFORM
    from services.tickets.page_choice.chance import ChoiceChance
    from services.tickets.page_quality.completeness import CompletenessService
    from services.tickets.triage.team_router import TeamRouter
    from services.tickets.walk.fit import Thresholds
    from services.web.ui.knowledge.backend import Knowledge

    settings = GatewaySettings()
    write_back_settings = WriteBackSettings()
    if write_back_settings.public_url is None:
        write_back_settings = write_back_settings.model_copy(
            update={"public_url": stores.settings.public_url}
        )
    write_back = WriteBack(write_back_settings, stores.database, stores.outbox)
    parts = GatewayParts(
        settings,
        stores.settings,
        stores.database,
        stores.outbox,
        peers.retrieval,
        TeamRouter(stores.database, stores.graph, stores.embedder, settings, model=stores.model),
        write_back,
        thresholds=Thresholds.of_folder(stores.folder),
        model=stores.shared_model,
        ingestion=peers.ingestion,
        execution=lambda: peers.execution,
        searches=lambda: peers.searching,
    )
    digest = WeeklyDigest(
        stores.database,
        stores.outbox,
        write_back=write_back,
        covering=parts.coverage,
        reviews=lambda: peers.readings(PLATFORM).reviews(),
        settings=write_back_settings,
    )
    model_peers = peers.within(settings.model_within_s + _ANSWER_WITHIN_S)
    work = GatewayWork(
        parts,
        peers.ingestion,
        model_peers.planner,
        model_peers.scorer,
        ChoiceChance.of_folder(stores.folder),
        digest if write_back_settings.digest_day else None,
        summaries=lambda: peers.summaries,
    )

    def app(checks: Mapping[str, Check]) -> FastAPI:
        caller_peers = peers.in_callers_name()
        fronts = caller_peers.frontends
        of_callers = replace(
            parts,
            knowledge=Knowledge(
                caller_peers.ingestion,
                caller_peers.readings,
                peers.retrieval,
                caller_peers.proposals,
                peers.within(COMPOSED_WITHIN_S).composing,
            ),
            execution=lambda: caller_peers.execution,
            searches=lambda: caller_peers.searching,
            summaries=caller_peers.summaries,
            completeness=CompletenessService(stores.database, peers.retrieval, stores.embedder),
            routers=[router for front in fronts for router in front.routers],
            body_limits={
                path: limit for front in fronts for path, limit in front.body_limits.items()
            },
            # Tickets are taken in and wait, whatever of these is away.
            optional={**peers.checks(), **stores.model_check()},
        )
        return create_app(of_callers, checks=checks)

    return RunningRoom(parts, app, work.register, periodic=work.periodic())


def describe(settings: PlatformSettings) -> FastAPI:
    """See `Room.describe`."""
    from services.gateway.app import create_app
    from services.gateway.parts import GatewayParts
    from services.kit.queue.outbox import Outbox
    from services.kit.sql.database import Database
    from services.tickets.page_quality.completeness import CompletenessService

    database = Database.memory()
    return create_app(
        GatewayParts(
            GatewaySettings(),
            settings,
            database,
            Outbox(database),
            NO_SERVICE,
            NO_SERVICE,
            NO_SERVICE,
            completeness=CompletenessService(database, NO_SERVICE, NO_SERVICE),
        )
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
        serves=ProcessResources(up_to=6, cpu="500m", model="planner", goes_outside=True),
        works=ProcessResources(up_to=12, model="planner", goes_outside=True),
        is_published=True,
        secrets={"FLOWXPERT_WEBHOOK_ALERTMANAGER_SECRET": "alertmanager-secret"},
    ),
    packages=("tickets", "integrations", "web"),
    settings=(GatewaySettings, WebhookSettings, WriteBackSettings),
    has_queue=True,
    lanes=("gateway_model", "gateway_notes"),
)
