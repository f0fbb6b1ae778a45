"""Fits learned on site: one serves, one runs in shadow, earlier ones are kept.

The serving fit is in the database, so that every process of a platform has it within a minute.
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
    """No learned fit is in that state."""


class FitState(StrEnum):
    """State of a fit."""

    SHADOW = "shadow"
    """Compared with the serving fit on cases that end from then on."""
    SERVING = "serving"
    RETIRED = "retired"
    """Served before, and was replaced."""
    REFUSED = "refused"
    """Rejected: not better, superseded meanwhile, or rolled back."""


@dataclass(frozen=True)
class StoredFit:
    """A stored fit with its metadata."""

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
        """Return the latest fit of a name in that state."""
        statement = select(FitRow).where(FitRow.name == name, FitRow.state == state.value)
        with self._database.session() as session:
            row = session.scalar(statement.order_by(FitRow.changed_at.desc(), FitRow.id.desc()))
            return _stored(row) if row else None

    def history(self, name: str) -> Sequence[StoredFit]:
        """List all fits of a name, the latest first."""
        statement = select(FitRow).where(FitRow.name == name).order_by(FitRow.id.desc())
        with self._database.session() as session:
            return [_stored(row) for row in session.scalars(statement)]

    def start_shadow(self, name: str, body: FittedFile, basis: dict[str, Any]) -> None:
        """Start a fit in shadow of the serving one; an earlier shadow is refused."""
        with self._database.session() as session:
            _move(session, name, FitState.SHADOW, FitState.REFUSED)
            session.add(_row(name, FitState.SHADOW, body, basis))
            add_audit(session, "fit.tried", name, after=_figures(basis))

    def promote(self, name: str, basis: dict[str, Any] | None = None) -> None:
        """Promote the shadow fit to serve.

        Raises:
            NoSuchFitError: No fit is in shadow.
        """
        with self._database.session() as session:
            _move(session, name, FitState.SERVING, FitState.RETIRED)
            row = _move(session, name, FitState.SHADOW, FitState.SERVING)
            if row is None:
                raise NoSuchFitError(f"nothing that was learned for {name} is tried at present")
            row.basis = {**row.basis, **(basis or {})}
            add_audit(session, "fit.taken", name, after=_figures(row.basis))

    def reject_shadow(self, name: str, basis: dict[str, Any]) -> None:
        """Refuse the shadow fit; nothing happens if there is none."""
        with self._database.session() as session:
            row = _move(session, name, FitState.SHADOW, FitState.REFUSED)
            if row is not None:
                row.basis = {**row.basis, **basis}
                add_audit(session, "fit.refused", name, after=_figures(row.basis))

    def update_shadow(self, name: str, basis: dict[str, Any]) -> None:
        """Update the basis of the shadow fit."""
        statement = select(FitRow).where(FitRow.name == name, FitRow.state == FitState.SHADOW.value)
        with self._database.session() as session:
            for row in session.scalars(statement):
                row.basis = {**row.basis, **basis}

    def put(self, name: str, body: FittedFile, basis: dict[str, Any]) -> None:
        """Store a fit that serves at once, without a shadow phase."""
        with self._database.session() as session:
            _move(session, name, FitState.SERVING, FitState.RETIRED)
            session.add(_row(name, FitState.SERVING, body, basis))
            add_audit(session, "fit.remade", name, after=_figures(basis))

    def drop(self, name: str, ids: Sequence[str]) -> None:
        """Delete fits for good."""
        with self._database.session() as session:
            session.execute(delete(FitRow).where(FitRow.name == name, FitRow.id.in_(ids)))
            add_audit(session, "fit.dropped", name, after={"fits": len(ids)})

    def rollback(self, name: str) -> FitState | None:
        """Return to the previous fit, or to the shipped one if there was none (None).

        Raises:
            NoSuchFitError: The shipped one serves already.
        """
        with self._database.session() as session:
            gone = _move(session, name, FitState.SERVING, FitState.REFUSED)
            if gone is None:
                raise NoSuchFitError(f"what is shipped serves for {name}: nothing to go back to")
            _move(session, name, FitState.SHADOW, FitState.REFUSED)
            previous = _move(session, name, FitState.RETIRED, FitState.SERVING)
            add_audit(session, "fit.taken_back", name, before=_figures(gone.basis))
            return FitState.SERVING if previous else None


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
    """Change the state of the latest fit in a state."""
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


def _figures(basis: dict[str, Any]) -> dict[str, object]:
    """Return the numbers of a basis, for the audit log."""
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
    """The fit that serves now: the data folder's, else the learned, else the shipped one.

    It is looked up again every half minute; the last one stays if the database does not answer, and
    the shipped one stands in for a learned fit that this version cannot read.
    """

    def __init__(self, fixed: Numbers, database: Database | None) -> None:
        """Take the fixed fit: the data folder's, or the shipped one, which may be replaced."""
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
        """The fit that serves."""
        if self._fits is None or time.monotonic() < self._look_at:
            return self._now
        with self._lock:
            if time.monotonic() >= self._look_at:
                self._reload(self._fits)
                self._look_at = time.monotonic() + LOOK_EVERY_S
        return self._now

    def _reload(self, fits: Fits) -> None:
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
