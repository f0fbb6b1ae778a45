"""Retrieval, planner and scorer over some documents, answering over HTTP from this process."""

from contextlib import ExitStack
from pathlib import Path

from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.planner.app import create_app as create_planner
from services.retrieval.app import create_app as create_retrieval
from services.scorer.app import create_app as create_scorer


def serve_knowledge(
    folder: Path, documents: Path, key: str, closing: ExitStack
) -> tuple[dict[str, str], list[str]]:
    """Settings that name the three services until `closing` ends, and the documents' titles."""
    settings = PlatformSettings(
        data_dir=folder / "knowledge",
        database_url=None,
        redis_url=None,
        qdrant_url=None,
        neo4j_url=None,
        api_key=key,
    )
    platform = closing.enter_context(Embedded(settings))
    platform.ingestion.ingest_here(documents)
    apps = {
        "RETRIEVAL": create_retrieval(settings, service=platform.retrieval),
        "PLANNER": create_planner(settings, service=platform.planner),
        "SCORER": create_scorer(settings, service=platform.scorer),
    }
    addresses = {}
    for name, app in apps.items():
        server = ServerThread(app, host="127.0.0.1", port=0)
        server.start()
        closing.callback(server.stop)
        addresses[f"FLOWXPERT_{name}_URL"] = server.url
    pages = map(platform.documents.get, platform.documents.hashes())
    return addresses, [document.for_person().title for document in pages if document is not None]
