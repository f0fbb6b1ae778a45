"""Gauges of the stored tickets, by source and state."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

from sqlalchemy import func, select

from services.contracts.ticket import TicketStatus
from services.kit.observability.metrics import start_at_zero
from services.kit.sql.database import Database
from services.tickets.metrics import TICKETS, TICKETS_IN_STATE
from services.tickets.tables import TicketRow

RESOLVED = "resolved"
"""State of a ticket whose fault is over, whatever its walk has come to."""


class TicketGauges:
    """Gauges of the tickets, read from the database on each update."""

    def __init__(self, database: Database, sources: Sequence[str]) -> None:
        self._database = database
        states = [*(status.value for status in TicketStatus), RESOLVED]
        self._series = list(product(sources, states))
        start_at_zero(TICKETS, sources, ("new", "known"))

    def tell(self) -> None:
        """Set the gauges; raises `DatabaseUnavailableError`."""
        is_over = TicketRow.resolved_at.is_not(None)
        keys = TicketRow.source, TicketRow.status, is_over
        counts: Counter[tuple[str, str]] = Counter()
        with self._database.session() as session:
            rows = session.execute(select(*keys, func.count()).group_by(*keys))
            for source, status, over, count in rows:
                counts[source, RESOLVED if over else status] += count
        for series in {*self._series, *counts}:
            TICKETS_IN_STATE.labels(*series).set(counts[series])
