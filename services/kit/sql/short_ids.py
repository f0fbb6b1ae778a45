"""Short ids: the first characters of an id or a hash, as long as no other one begins with them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, func, inspect, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from services.kit.errors import ConflictError

FEWEST_CHARACTERS = 4
"""Fewest characters of a short id: fewer would name another thing by a slip too easily."""
MOST_LISTED = 10

_SHORT_ID = re.compile(r"[0-9a-f]{4,63}|[0-9a-f][0-9a-f-]{3,34}")
"""The beginning of a hash, or of a UUID; neither of them whole."""

RowT = TypeVar("RowT")


class AmbiguousIdError(ConflictError):
    """Several ids begin or end as the caller wrote."""


def get_by_short_id(session: Session, table: type[RowT], id_: str) -> RowT | None:
    """Return the row of this primary key, else the only one whose key begins with it.

    Raises:
        AmbiguousIdError: Several keys begin with it.
    """
    row = session.get(table, id_)
    if row is None:
        (column,) = inspect(table).primary_key
        whole = complete_short_id(session, column, id_)
        row = session.get(table, whole) if whole is not None else None
    return row


def complete_short_id(
    session: Session,
    column: InstrumentedAttribute[str] | ColumnElement[Any],
    short_id: str,
    *conditions: ColumnElement[bool],
) -> str | None:
    """Return the only value of an indexed column that begins so; None if none does.

    Raises:
        AmbiguousIdError: Several values that meet the conditions begin so.
    """
    beginning = short_id.lower()
    if not _SHORT_ID.fullmatch(beginning):
        return None
    first = beginning.rstrip("-")  # which many collations ignore
    statement = (
        select(column)
        .where(column >= first, column < f"{first[:-1]}{chr(ord(first[-1]) + 1)}", *conditions)
        .where(func.substr(column, 1, len(beginning)) == beginning)
        .distinct()
        .order_by(column)
        .limit(MOST_LISTED + 1)
    )
    return the_only_one(session.scalars(statement).all(), short_id)


def match_short_id(ids: Iterable[str], short_id: str) -> str | None:
    """Return the id, else the only one that begins so; None if none does.

    Raises:
        AmbiguousIdError: Several begin so.
    """
    matches = [each for each in ids if each.startswith(short_id)]
    if short_id in matches:
        return short_id
    is_short = len(short_id) >= FEWEST_CHARACTERS
    return the_only_one(matches, short_id) if is_short else None


def the_only_one(matches: Sequence[str], written: str) -> str | None:
    """Return the only match of what a caller wrote; None if there is none.

    Raises:
        AmbiguousIdError: There are several.
    """
    if len(matches) > 1:
        listed = ", ".join(matches[:MOST_LISTED])
        more = " and more" if len(matches) > MOST_LISTED else ""
        raise AmbiguousIdError(f"{written[:60]!r} is ambiguous: {listed}{more}")
    return matches[0] if matches else None
