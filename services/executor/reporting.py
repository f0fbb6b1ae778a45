"""What a run's ticket is told once it is over."""

from services.contracts.execution import RunMode
from services.contracts.gateway import RunNote, Tickets
from services.executor.runs.events import Kind
from services.executor.runs.report import report_of
from services.executor.runs.store import RunStore
from services.kit.errors import NotFoundError

MOST_LINES = 60
MOST_CHARACTERS = 500


class Reporting:
    """Tells the gateway; told again, it keeps one of them."""

    def __init__(self, store: RunStore, tickets: Tickets) -> None:
        self._store = store
        self._tickets = tickets

    def run(self, run_id: str) -> None:
        """Tell of this run; a dry run tells nothing, and neither does one whose ticket is gone."""
        stored = self._store.load(run_id)
        run, state = stored.run, stored.state
        if run.mode is RunMode.DRY or state.outcome is None:
            return
        lines = report_of(run, stored.events, state).splitlines()
        told = [line[:MOST_CHARACTERS] for line in lines if line.strip()]
        rest = len(told) - MOST_LINES
        if rest > 0:
            told = [*told[: MOST_LINES - 1], f"… and {rest + 1} more lines on the run's page"]
        note = RunNote(
            run_id=run.id,
            outcome=state.outcome.value,
            by=run.requested_by,
            lines=tuple(told),
            is_open=Kind.NOT_VERIFIED in state.verified.values(),
        )
        try:
            self._tickets.note_run(run.ticket.id, note)
        except NotFoundError:  # it was purged meanwhile
            return
