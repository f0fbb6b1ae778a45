"""Gauges of the tickets that are kept, by source and state."""

from collections.abc import Sequence
from itertools import product

from sqlalchemy import func, select

from services.contracts.ticket import TicketStatus
from services.gateway.metrics import STANDING, TICKETS
from services.gateway.tables import TicketRow
from services.kit.observability.metrics import start_at_zero
from services.kit.sql.database import Database

RESOLVED = "resolved"
"""The fault is over, whatever its ticket has come to."""


class TicketGauges:
    """Reads the tickets' table when it is asked to."""

    def __init__(self, database: Database, sources: Sequence[str]) -> None:
        self._database = database
        states = [*(status.value for status in TicketStatus), RESOLVED]
        self._series = list(product(sources, states))
        start_at_zero(TICKETS, sources, ("new", "known"))

    def tell(self) -> None:
        """Set the gauges; raises `DatabaseUnavailableError`."""
        counts = self._counts()
        for series in {*self._series, *counts}:
            STANDING.labels(*series).set(counts.get(series, 0))

    def _counts(self) -> dict[tuple[str, str], int]:
        is_over = TicketRow.resolved_at.is_not(None)
        keys = TicketRow.source, TicketRow.status, is_over
        counts: dict[tuple[str, str], int] = {}
        with self._database.session() as session:
            for source, status, over, count in session.execute(
                select(*keys, func.count()).group_by(*keys)
            ):
                state = RESOLVED if over else status
                counts[source, state] = counts.get((source, state), 0) + count
        return counts
