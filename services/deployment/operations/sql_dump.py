"""Dump of all tables of a database as lines of JSON, and its loading, for any engine."""

import base64
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    DateTime,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Uuid,
    func,
    select,
    text,
)

from services.kit.migrations import ROOMS

_ROWS_AT_ONCE = 500
_LARGE_ROWS_AT_ONCE = 20
"""Batch size for tables that store bytes, such as pictures."""


def tables_of(connection: Connection) -> list[Table]:
    """Return the platform's tables as they are, each after those it refers to."""
    metadata = MetaData()
    metadata.reflect(connection)
    versions = {f"alembic_{room}" for room in ROOMS}
    return [table for table in metadata.sorted_tables if table.name not in versions]


def count(connection: Connection, table: Table) -> int:
    """Count the rows of a table."""
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def lines_of(connection: Connection, table: Table) -> Iterator[bytes]:
    """Yield the rows as one line of JSON each, read lazily."""
    streamed = connection.execution_options(yield_per=_rows_at_once(table))
    ordered = select(table).order_by(*table.primary_key.columns)
    for row in streamed.execute(ordered).mappings():
        values = {name: _to_json(value) for name, value in row.items()}
        yield json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def load(connection: Connection, table: Table, lines: Iterable[bytes]) -> int:
    """Insert rows into an empty table and return their number."""
    for column in table.columns:
        if isinstance(column.type, JSON):
            column.type.none_as_null = True
    is_sqlite = connection.dialect.name == "sqlite"
    rows = (
        {
            name: _from_json(table.columns[name].type, value, is_sqlite=is_sqlite)
            for name, value in json.loads(line).items()
        }
        for line in lines
    )
    loaded = 0
    while batch := list(islice(rows, _rows_at_once(table))):
        connection.execute(table.insert(), batch)
        loaded += len(batch)
    _advance_sequences(connection, table)
    return loaded


def _rows_at_once(table: Table) -> int:
    is_large = any(isinstance(column.type, LargeBinary) for column in table.columns)
    return _LARGE_ROWS_AT_ONCE if is_large else _ROWS_AT_ONCE


def _to_json(value: object) -> object:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    return value


def _from_json(kind: object, value: Any, *, is_sqlite: bool) -> object:  # noqa: ANN401 - JSON
    if value is None or isinstance(kind, JSON | Uuid):
        return value
    if isinstance(kind, DateTime):
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC).replace(tzinfo=None) if is_sqlite else moment
    if isinstance(kind, LargeBinary):
        return base64.b64decode(value)
    return value


def _advance_sequences(connection: Connection, table: Table) -> None:
    """Advance PostgreSQL's sequences past the loaded rows; SQLite does so by itself."""
    if connection.dialect.name == "sqlite":
        return
    for column in table.primary_key.columns:
        if not isinstance(column.type, Integer):
            continue
        name = {"table": table.name, "column": column.name}
        sequence = connection.scalar(text("SELECT pg_get_serial_sequence(:table, :column)"), name)
        last = connection.scalar(select(func.max(column)))
        if sequence and last is not None:
            connection.execute(
                text("SELECT setval(:name, :last)"), {"name": sequence, "last": last}
            )
