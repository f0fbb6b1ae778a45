"""Statements that change rows."""

from typing import Any, cast

from sqlalchemy import CursorResult
from sqlalchemy.orm import Session
from sqlalchemy.sql import Executable


def execute_and_count(session: Session, statement: Executable) -> int:
    """Execute a statement and return the number of rows that it changed."""
    return cast("CursorResult[Any]", session.execute(statement)).rowcount
