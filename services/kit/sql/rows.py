"""Rows that a statement changed."""

from typing import Any, cast

from sqlalchemy import CursorResult
from sqlalchemy.orm import Session
from sqlalchemy.sql import Executable


def changed(session: Session, statement: Executable) -> int:
    """How many rows it changed."""
    return cast("CursorResult[Any]", session.execute(statement)).rowcount
