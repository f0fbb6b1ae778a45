"""Columns of times from dates to seconds since the epoch, and back, to the microsecond."""

import sqlalchemy as sa
from alembic import op

_DATE = sa.DateTime(timezone=True)


def dates_to_seconds(table: str, *columns: str) -> None:
    """Change the columns and what is in them; one that may be empty keeps that."""
    if op.get_bind().dialect.name == "sqlite":
        # There a date is text: `2026-11-23 04:05:06.123456`, in UTC.
        _set(
            table,
            columns,
            "CAST(strftime('%s', substr({0}, 1, 19)) AS REAL) "
            "+ CAST('0' || substr({0}, 20, 7) AS REAL)",
        )
    with op.batch_alter_table(table) as batch_op:
        for column in columns:
            batch_op.alter_column(
                column,
                existing_type=_DATE,
                type_=sa.Float(),
                postgresql_using=f"EXTRACT(EPOCH FROM {column})",
            )


def seconds_to_dates(table: str, *columns: str) -> None:
    """The way back."""
    with op.batch_alter_table(table) as batch_op:
        for column in columns:
            batch_op.alter_column(
                column,
                existing_type=sa.Float(),
                type_=_DATE,
                postgresql_using=f"to_timestamp({column})",
            )
    if op.get_bind().dialect.name == "sqlite":
        seconds = "printf('%.6f', {0})"
        _set(
            table,
            columns,
            f"strftime('%Y-%m-%d %H:%M:%S', CAST({seconds} AS INTEGER), 'unixepoch') "
            f"|| substr({seconds}, -7)",
        )


def _set(table: str, columns: tuple[str, ...], value: str) -> None:
    changes = ", ".join(
        f"{c} = CASE WHEN {c} IS NOT NULL THEN {value.format(c)} END" for c in columns
    )
    op.execute(f"UPDATE {table} SET {changes}")  # noqa: S608 - names of our own
