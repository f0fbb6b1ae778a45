"""What a run's ticket is told once it is over."""

from collections.abc import Iterator, Sequence

from services.contracts.execution import RunMode
from services.contracts.gateway import RunNote, StepSeen, Tickets
from services.executor.runs.events import Event, Kind
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
            is_look=run.asks_nobody,
            workflow_id=run.workflow_id,
            seen=tuple(_seen(stored.events)) if run.asks_nobody else (),
        )
        try:
            self._tickets.note_run(run.ticket.id, note)
        except NotFoundError:  # it was purged meanwhile
            return


def _seen(events: Sequence[Event]) -> Iterator[StepSeen]:
    """What evidence told of each question, the last time that it was come to."""
    looks = {event.seq: event.facts for event in events if event.kind is Kind.OBSERVED}
    last = {
        event.step: event.facts
        for event in events
        if event.kind is Kind.DECIDED and event.facts["by"] == "evidence"
    }
    for step, facts in last.items():
        fields = looks[facts["seen"]]["fields"]
        named = [name for name in dict.fromkeys(facts["fields"]) if name in fields]
        told = "; ".join(f"{name.replace('_', ' ')} = {fields[name]}" for name in named)
        yield StepSeen(
            step=step,
            answer=str(facts["answer"])[:MOST_CHARACTERS],
            target=str(looks[facts["seen"]]["target"]),
            because=told[:MOST_CHARACTERS],
        )
