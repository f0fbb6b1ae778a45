"""What every test is run with."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import certifi
import pytest
import structlog
from fastapi._compat.v2 import ModelField

from services.kit.sql.database import Database
from services.room.stores import freeze_after_full_collections
from tests.databases import MIGRATE, copying, sharing_statements


def pytest_collection_finish() -> None:
    """What takes seconds and is tested nowhere: looking at all that is imported, drawing errors."""
    freeze_after_full_collections()
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run have, and no run that one of them starts."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session", autouse=True)
def _migrated_by_copy(shared: Path) -> None:
    """One Alembic run a set of rooms, not one a test; and one compilation a statement."""
    (shared / "migrated").mkdir(exist_ok=True)
    Database.migrate = copying(shared / "migrated")
    Database.__init__ = sharing_statements()


@pytest.fixture(scope="session", autouse=True)
def _validators_on_demand() -> None:
    """An app's routes have hundreds of validators, of which a test calls a few."""
    make = ModelField.__post_init__

    def made(field: ModelField, name: str) -> Any:
        if name != "_type_adapter":
            raise AttributeError(name)
        make(field)
        return field._type_adapter

    ModelField.__post_init__ = lambda _field: None
    ModelField.__getattr__ = made


@pytest.fixture(scope="session", autouse=True)
def _one_certificate(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every client of HTTP reads all certificates of the world, 20 ms; nobody here speaks TLS."""
    first, end, _ = Path(certifi.where()).read_text().partition("-----END CERTIFICATE-----\n")
    file = tmp_path_factory.mktemp("certificates") / "one.pem"
    file.write_text(first + end)
    os.environ["SSL_CERT_FILE"] = str(file)


@pytest.fixture
def really_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the migrations themselves: Alembic runs on each database."""
    monkeypatch.setattr(Database, "migrate", MIGRATE)


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """A command that is run here logs to a stream that is closed when it ends."""
    before, root = structlog.get_config(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.configure(**before)
    root.handlers = handlers
    root.setLevel(level)
