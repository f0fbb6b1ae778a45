"""The PostgreSQL that a test may empty: one database for each worker that runs tests."""

import os
import tempfile
from functools import cache

import psycopg
import pytest
from sqlalchemy.engine import make_url

_VARIABLE = "FLOWXPERT_TEST_POSTGRES_URL"


def postgres_url() -> str:
    """Skips the test where no server is named."""
    url = os.environ.get(_VARIABLE)
    if not url:
        pytest.skip(f"set {_VARIABLE} to test against PostgreSQL")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    return _own(url, worker) if worker else url


@cache
def _own(url: str, worker: str) -> str:
    own = make_url(url).set(database=f"{make_url(url).database}_{worker}")
    server = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(server, autocommit=True) as connection:
        name = (own.database,)
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", name).fetchone():
            connection.execute(f'CREATE DATABASE "{own.database}"')
    return own.render_as_string(hide_password=False)


@cache
def pgvector_url() -> str:
    """A server of this process's own with the extension pgvector; it ends with the process.

    Skips the test where the package that brings it has no wheel: from Python 3.13 on.
    """
    pgserver = pytest.importorskip("pgserver", reason="the package pgserver is not installed")
    folder = tempfile.mkdtemp(prefix="flowxpert-")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    return str(server.get_uri())
