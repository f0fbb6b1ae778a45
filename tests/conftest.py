"""What every test is run with."""

import gc
import os

import pytest

from services.kit.sql.database import Database
from tests.databases import MIGRATE, copying


def pytest_collection_finish() -> None:
    """Collections of garbage during the tests do not look at all that is imported."""
    gc.collect()
    gc.freeze()


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
