"""The PostgreSQL that a test may empty: one database for each worker that runs tests."""

import os
import tempfile
from functools import cache
from uuid import uuid4

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


def pgvector_url() -> str:
    """A database of the caller's own on a server with the extension pgvector.

    What another test stored there would be found by this one's searches. Skips the test where the
    package that brings the server has no wheel: from Python 3.13 on.
    """
    server, name = _pgvector_server(), f"own_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return make_url(server).set(database=name).render_as_string(hide_password=False)


@cache
def _pgvector_server() -> str:
    """A server of this process's own; it ends with the process."""
    pgserver = pytest.importorskip("pgserver", reason="the package pgserver is not installed")
    folder = tempfile.mkdtemp(prefix="flowxpert-")
    return str(pgserver.get_server(folder, cleanup_mode="delete").get_uri())
