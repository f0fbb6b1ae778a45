"""Fits that were learned on site: one serves, one is tried in its shadow, those before are kept.

What serves is in the database, so that every process of a platform has it within a minute.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

import structlog
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from services.kit.access.audit import add_audit
from services.kit.errors import ConflictError, UnavailableError
from services.kit.fits.fitted import FittedFile, UnusableFitError
from services.kit.ids import time_ordered_id
from services.kit.sql.database import Database
from services.kit.tables import FitRow

Numbers = TypeVar("Numbers", bound=FittedFile)

LOOK_EVERY_S = 30.0

_log = structlog.get_logger()


class NoSuchFitError(ConflictError):
    """There is no learned fit in that state."""


class FitState(StrEnum):
    """Where a fit stands."""

    SHADOW = "shadow"
    """It is compared with what serves, on cases that end from then on."""
    SERVING = "serving"
    RETIRED = "retired"
    """It served before, or was given back."""
    REFUSED = "refused"
    """It was not better, or another one was made meanwhile."""


@dataclass(frozen=True)
class StoredFit:
    """A fit with what is known of it."""

    id: str
    name: str
    state: FitState
    body: str
    basis: dict[str, Any]
    made_at: datetime


class Fits:
    """The fits in SQL; each change is in the audit log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def in_state(self, name: str, state: FitState) -> StoredFit | None:
        """The latest of a name in that state."""
        statement = select(FitRow).where(FitRow.name == name, FitRow.state == state.value)
        with self._database.session() as session:
            row = session.scalar(statement.order_by(FitRow.changed_at.desc(), FitRow.id.desc()))
            return _stored(row) if row else None

    def history(self, name: str) -> Sequence[StoredFit]:
        """All of a name, the latest first."""
        statement = select(FitRow).where(FitRow.name == name).order_by(FitRow.id.desc())
        with self._database.session() as session:
            return [_stored(row) for row in session.scalars(statement)]

    def try_out(self, name: str, body: FittedFile, basis: dict[str, Any]) -> None:
        """Set a fit beside what serves; one that was tried before ends."""
        with self._database.session() as session:
            _move(session, name, FitState.SHADOW, FitState.REFUSED)
            session.add(_row(name, FitState.SHADOW, body, basis))
            add_audit(session, "fit.tried", name, after=_counted(basis))

    def take(self, name: str, basis: dict[str, Any] | None = None) -> None:
        """Let what was tried serve.

        Raises:
            NoSuchFitError: Nothing is tried.
        """
        with self._database.session() as session:
            _move(session, name, FitState.SERVING, FitState.RETIRED)
            row = _move(session, name, FitState.SHADOW, FitState.SERVING)
            if row is None:
                raise NoSuchFitError(f"nothing that was learned for {name} is tried at present")
            row.basis = {**row.basis, **(basis or {})}
            add_audit(session, "fit.taken", name, after=_counted(row.basis))

    def refuse(self, name: str, basis: dict[str, Any]) -> None:
        """End what was tried; nothing where nothing was."""
        with self._database.session() as session:
            row = _move(session, name, FitState.SHADOW, FitState.REFUSED)
            if row is not None:
                row.basis = {**row.basis, **basis}
                add_audit(session, "fit.refused", name, after=_counted(row.basis))

    def note(self, name: str, basis: dict[str, Any]) -> None:
        """Write down how what is tried does."""
        statement = select(FitRow).where(FitRow.name == name, FitRow.state == FitState.SHADOW.value)
        with self._database.session() as session:
            for row in session.scalars(statement):
                row.basis = {**row.basis, **basis}

    def put(self, name: str, body: FittedFile, basis: dict[str, Any]) -> None:
        """Let a fit serve at once, without being tried."""
        with self._database.session() as session:
            _move(session, name, FitState.SERVING, FitState.RETIRED)
            session.add(_row(name, FitState.SERVING, body, basis))
            add_audit(session, "fit.remade", name, after=_counted(basis))

    def drop(self, name: str, ids: Sequence[str]) -> None:
        """Take fits away for good."""
        with self._database.session() as session:
            session.execute(delete(FitRow).where(FitRow.name == name, FitRow.id.in_(ids)))
            add_audit(session, "fit.dropped", name, after={"fits": len(ids)})

    def back(self, name: str) -> FitState | None:
        """Let the fit before serve again, or what is shipped where there was none (None).

        Raises:
            NoSuchFitError: What is shipped serves already.
        """
        with self._database.session() as session:
            gone = _move(session, name, FitState.SERVING, FitState.REFUSED)
            if gone is None:
                raise NoSuchFitError(f"what is shipped serves for {name}: nothing to go back to")
            _move(session, name, FitState.SHADOW, FitState.REFUSED)
            before = _move(session, name, FitState.RETIRED, FitState.SERVING)
            add_audit(session, "fit.taken_back", name, before=_counted(gone.basis))
            return FitState.SERVING if before else None


def _row(name: str, state: FitState, body: FittedFile, basis: dict[str, Any]) -> FitRow:
    now = time.time()
    return FitRow(
        id=time_ordered_id(),
        name=name,
        state=state.value,
        body=body.model_dump_json(),
        basis=basis,
        made_at=now,
        changed_at=now,
    )


def _move(session: Session, name: str, from_: FitState, to: FitState) -> FitRow | None:
    """Bring the latest of a state into another one."""
    statement = select(FitRow).where(FitRow.name == name, FitRow.state == from_.value)
    row = session.scalar(statement.order_by(FitRow.changed_at.desc(), FitRow.id.desc()))
    if row is None:
        return None
    changed = (
        update(FitRow)
        .where(FitRow.id == row.id, FitRow.state == from_.value)
        .values(state=to.value, changed_at=time.time())
    )
    session.execute(changed)
    session.refresh(row)
    return row


def _counted(basis: dict[str, Any]) -> dict[str, object]:
    """What the audit log tells of it: numbers alone."""
    return {name: value for name, value in basis.items() if isinstance(value, int | float)}


def _stored(row: FitRow) -> StoredFit:
    return StoredFit(
        id=row.id,
        name=row.name,
        state=FitState(row.state),
        body=row.body,
        basis=dict(row.basis),
        made_at=datetime.fromtimestamp(row.made_at, UTC),
    )


class FitInUse(Generic[Numbers]):
    """The numbers that serve now: the data folder's, else those learned, else those shipped.

    They are looked up again every half minute; what was read last stays where the database does
    not answer, and what is shipped stands in for a learned fit that this version cannot read.
    """

    def __init__(self, fixed: Numbers, database: Database | None) -> None:
        """`fixed` is of the data folder or shipped; only in place of the latter one is learned."""
        is_own = fixed.hash != type(fixed).shipped().hash
        self._name = fixed.NAME
        self._fixed = fixed
        self._fits = None if database is None or is_own else Fits(database)
        self._lock = threading.Lock()
        self._id = ""
        self._now = fixed
        self._look_at = 0.0

    @property
    def now(self) -> Numbers:
        """Those that serve."""
        if self._fits is None or time.monotonic() < self._look_at:
            return self._now
        with self._lock:
            if time.monotonic() >= self._look_at:
                self._look(self._fits)
                self._look_at = time.monotonic() + LOOK_EVERY_S
        return self._now

    def _look(self, fits: Fits) -> None:
        try:
            serving = fits.in_state(self._name, FitState.SERVING)
        except UnavailableError:
            return
        if serving is None:
            self._id, self._now = "", self._fixed
        elif serving.id != self._id:
            try:
                self._now = type(self._fixed).of_text(serving.body, f"fit {self._name}")
            except UnusableFitError as error:
                _log.warning("fits.unusable", name=self._name, reason=str(error))
                self._now = self._fixed
            self._id = serving.id
