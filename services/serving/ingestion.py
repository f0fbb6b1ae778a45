"""Ingestion in a process of its own."""

from pathlib import Path

from celery import Celery
from fastapi import FastAPI

from services.ingestion import tasks
from services.ingestion.app import create_app
from services.ingestion.service import IngestionService
from services.ingestion.settings import IngestionSettings
from services.kit.health import Check
from services.kit.periodic import Periodic
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.serving.stores import SharedStores


class IngestionRoom:
    """See `process.Room`."""

    def __init__(self, stores: SharedStores, work_dir: Path) -> None:
        """`work_dir` keeps what was uploaded, unless the settings name another folder."""
        self._stores = stores
        self._settings = IngestionSettings()
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
        )
        self._service.tell_outdated()

    def app(self, check_queue: Check) -> FastAPI:
        """See `process.Room.app`."""
        return create_app(
            self._stores.settings,
            service=self._service,
            readings=lambda caller: self._service.readings(caller.name),
            ingestion_settings=self._settings,
            access=self._stores.access,
            checks={
                "database": self._stores.database.check,
                **self._stores.knowledge_checks(),
                "queue": check_queue,
            },
        )

    def register(self, queue: Celery) -> None:
        """See `process.Room.register`."""
        tasks.register(self._stores.outbox, queue, self._service)

    def periodic(self) -> tuple[Periodic | None, ...]:
        """See `process.Room.periodic`."""
        return ()
