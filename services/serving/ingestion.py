"""Ingestion in a process of its own."""

from pathlib import Path

from fastapi import FastAPI

from services.ingestion import tasks
from services.ingestion.app import create_app
from services.ingestion.service import IngestionService
from services.ingestion.settings import IngestionSettings
from services.ingestion.sync.service import SyncService
from services.ingestion.sync.settings import SyncSettings
from services.kit.http.health import Check
from services.kit.queue.periodic import Periodic
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.serving.stores import SharedStores


class IngestionRoom:
    """See `process.Room`."""

    def __init__(self, stores: SharedStores, work_dir: Path) -> None:
        """`work_dir` keeps what was uploaded, unless the settings name another folder."""
        self._stores = stores
        self._settings, sync_settings = IngestionSettings(), SyncSettings()
        self._service = IngestionService(
            database=stores.database,
            documents=SqlDocumentStore(stores.database),
            vectors=stores.vectors,
            graph=stores.graph,
            embedder=stores.document_embedder,
            case_embedder=stores.embedder,
            outbox=stores.outbox,
            work_dir=self._settings.work_dir or work_dir,
            settings=self._settings,
            tells_syncs=sync_settings.callback_url is not None,
        )
        self._syncs = SyncService(
            stores.database,
            stores.outbox,
            self._service,
            folder=stores.settings.data_dir / "repositories",
            settings=sync_settings,
        )
        self._syncing: Periodic | None = None
        self._service.tell_outdated()

    def app(self, check_queue: Check) -> FastAPI:
        """See `process.Room.app`."""
        return create_app(
            self._stores.settings,
            service=self._service,
            syncs=self._syncs,
            readings=lambda caller: self._service.readings(caller.name),
            ingestion_settings=self._settings,
            access=self._stores.access,
            checks={
                "database": self._stores.database.check,
                **self._stores.knowledge_checks(),
                "queue": check_queue,
            },
        )

    def register(self) -> None:
        """See `process.Room.register`."""
        outbox = self._stores.outbox
        self._syncing = tasks.register(outbox, self._service, self._syncs)

    def periodic(self) -> tuple[Periodic | None, ...]:
        """See `process.Room.periodic`."""
        return (self._syncing,)
