"""What every test is run with."""

import os

import pytest
import structlog

from services.kit.database import Database
from services.kit.garbage import keep_collections_short
from tests.databases import MIGRATE, copying


def pytest_collection_finish() -> None:
    """What takes seconds and is tested nowhere: looking at all that is imported, drawing errors."""
    keep_collections_short()
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


@pytest.fixture(scope="session", autouse=True)
def _migrated_by_copy(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One Alembic run a set of rooms, not one a test."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "migrated"
    folder.mkdir(exist_ok=True)
    Database.migrate = copying(folder)


@pytest.fixture
def really_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the migrations themselves: Alembic runs on each database."""
    monkeypatch.setattr(Database, "migrate", MIGRATE)
