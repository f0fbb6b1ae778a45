"""Databases the SQL adapters are tested on.

PostgreSQL is used when FLOWXPERT_TEST_POSTGRES_URL names a database; its tables are emptied.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from services.kit.database import Database


@contextmanager
def database_of(kind: str) -> Iterator[Database]:
    """A migrated database without rows."""
    if kind == "sqlite":
        database = Database.memory()
    else:
        url = os.environ.get("FLOWXPERT_TEST_POSTGRES_URL")
        if not url:
            pytest.skip("set FLOWXPERT_TEST_POSTGRES_URL to test against PostgreSQL")
        database = Database(url)
    database.migrate("knowledge", "procedure")
    with database.session() as session:
        for table in ("knowledge_document", "knowledge_node", "procedure_text"):
            truncate = f"TRUNCATE {table} CASCADE"
            session.execute(text(f"DELETE FROM {table}" if database.is_sqlite else truncate))
    try:
        yield database
    finally:
        database.close()
