"""The services that only answer: they have no queue."""

from fastapi import FastAPI

from services.knowledge.stores.sql_archive import SqlCaseArchive
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.planner.app import create_app as create_planner
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.procedure.ports import AnswerStore
from services.procedure.store.sql_answers import SqlAnswerStore
from services.procedure.store.sql_readings import SqlReadingStore
from services.retrieval.app import create_app as create_retrieval
from services.retrieval.service import RetrievalService
from services.retrieval.settings import RetrievalSettings
from services.scorer.app import create_app as create_scorer
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.serving.stores import SharedStores


def retrieval_app(stores: SharedStores) -> FastAPI:
    """Retrieval on the stores."""
    service = RetrievalService(
        stores.vectors,
        stores.graph,
        SqlDocumentStore(stores.database),
        stores.embedder,
        RetrievalSettings(),
        readings=SqlReadingStore(stores.database),
        archive=SqlCaseArchive(stores.database),
    )
    return create_retrieval(
        stores.settings,
        service=service,
        access=stores.access,
        checks={"database": stores.database.check},
        optional=stores.knowledge_checks(),
    )


def planner_app(stores: SharedStores) -> FastAPI:
    """The planner, with the model where there is one."""
    model = stores.model
    service = PlannerService(
        PlannerSettings(), model=model, embedder=stores.embedder if model else None
    )
    return create_planner(stores.settings, service=service, optional=stores.model_check())


def scorer_app(stores: SharedStores) -> FastAPI:
    """The scorer, with the model where there is one."""
    service = ScorerService(
        stores.embedder, ScorerSettings(), model=stores.model, answers=_answers(stores)
    )
    return create_scorer(stores.settings, service=service, optional=stores.model_check())


def _answers(stores: SharedStores) -> AnswerStore | None:
    """Where a judge's answers are kept with the readings; None where no database is named."""
    has_any = stores.model and stores.settings.database_url
    return SqlAnswerStore(stores.database) if has_any else None
