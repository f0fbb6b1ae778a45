"""Databases the SQL adapters are tested on.

PostgreSQL is used when FLOWXPERT_TEST_POSTGRES_URL names a database; its tables are emptied.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from services.kit.sql.database import Database
from tests.postgres import postgres_url

_TABLES = (
    *("knowledge_document", "knowledge_node", "knowledge_case"),
    *("procedure_text", "procedure_answer"),
    *("executor_run", "executor_search", "executor_suspension", "executor_binding"),
    "executor_look_count",
    *("ingestion_job", "ingestion_proposal", "ingestion_picture", "outbox"),
)


@contextmanager
def database_of(kind: str) -> Iterator[Database]:
    """A migrated database without rows."""
    database = Database.memory() if kind == "sqlite" else Database(postgres_url())
    database.migrate("kit", "knowledge", "procedure", "ingestion", "executor")
    with database.session() as session:
        for table in _TABLES:
            truncate = f"TRUNCATE {table} CASCADE"
            session.execute(text(f"DELETE FROM {table}" if database.is_sqlite else truncate))
    try:
        yield database
    finally:
        database.close()
