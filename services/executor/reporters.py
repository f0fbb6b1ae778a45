"""Reports to a ticket once a run or a search of it is over."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

import structlog

from services.contracts.execution import RunMode, RunOutcome
from services.contracts.gateway import RunNote, SearchNote, StepSeen, Tickets
from services.contracts.proposals import Proposals, Validation
from services.contracts.searching import Searches, StartSearch
from services.execution.runs.events import Event, RunEventKind
from services.execution.runs.report import report_of
from services.execution.runs.run import Run
from services.execution.runs.store import RunStore
from services.investigation.search.store import SearchStore
from services.investigation.search.views import lines_of
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError

MOST_LINES = 60
MOST_PAGES = 50
MOST_CHARACTERS = 500

_log = structlog.get_logger()


class RunReporter:
    """Reporter of finished runs to the gateway, which keeps one note for each run."""

    def __init__(
        self,
        store: RunStore,
        tickets: Tickets,
        searching: Searches,
        proposals: Callable[[], Proposals],
    ) -> None:
        """Wire the reporter to its peers.

        `searching` is asked for the cause if a run is handed over and the policy lets it.
        `proposals` is told which pages led to a recovery.
        """
        self._store = store
        self._tickets = tickets
        self._searching = searching
        self._proposals = proposals

    def report(self, run_id: str) -> None:
        """Report this run; a dry run is not reported, and neither is one whose ticket is gone."""
        stored = self._store.load(run_id)
        run, state = stored.run, stored.state
        if run.mode is RunMode.DRY or state.outcome is None:
            return
        lines = report_of(run, stored.events, state).splitlines()
        note = RunNote(
            run_id=run.id,
            outcome=state.outcome.value,
            by=run.requested_by,
            lines=_shorten_lines(lines, "the run's page"),
            is_open=RunEventKind.NOT_VERIFIED in state.verified.values(),
            is_look=run.asks_nobody,
            workflow_id=run.workflow_id,
            seen=tuple(_observed_answers(stored.events)) if run.asks_nobody else (),
            left=state.why if stored.events[-1].facts.get("is_capped") else "",
        )
        try:
            self._tickets.note_run(run.ticket.id, note)
        except NotFoundError:  # it was purged meanwhile
            return

        if state.outcome is RunOutcome.RECOVERED:
            self._validate_pages(run, stored.events[-1].at)
        is_look = run.asks_nobody or run.workflow.is_checklist
        if state.outcome is RunOutcome.HANDED_OVER and not is_look:
            try:
                self._searching.start(StartSearch(ticket_id=run.ticket.id, at_once=True))
            except (ConflictError, InvalidInputError, NotFoundError) as refusal:
                reason = str(refusal)
                _log.info("executor.not_searched", ticket_id=run.ticket.id, reason=reason)

    def _validate_pages(self, run: Run, at: float) -> None:
        """Tell the knowledge that the pages which the run followed have worked."""
        cited = {c.document_id for step in run.workflow.steps for c in step.citations}
        if cited:
            shown = Validation(
                document_ids=tuple(sorted(cited)[:MOST_PAGES]),
                run_id=run.id,
                at=datetime.fromtimestamp(at, UTC),
            )
            self._proposals().validate(shown)


class SearchReporter:
    """Reporter of finished searches to the gateway, which keeps one note for each search."""

    def __init__(self, store: SearchStore, tickets: Tickets) -> None:
        self._store = store
        self._tickets = tickets

    def report(self, search_id: str) -> None:
        """Report this search; one whose ticket is gone is not reported."""
        stored = self._store.load(search_id)
        search, state = stored.search, stored.state
        if state.outcome is None:
            return
        note = SearchNote(
            search_id=search.id,
            outcome=state.outcome.value,
            by=search.started_by,
            cause=state.answer.cause if state.answer else "",
            lines=_shorten_lines(lines_of(state), "the search's page"),
        )
        try:
            self._tickets.note_search(search.ticket.id, note)
        except NotFoundError:  # it was purged meanwhile
            return


def _shorten_lines(lines: Iterable[str], page: str) -> tuple[str, ...]:
    shortened = [line[:MOST_CHARACTERS] for line in lines if line.strip()]
    rest = len(shortened) - MOST_LINES
    if rest > 0:
        shortened = [*shortened[: MOST_LINES - 1], f"… and {rest + 1} more lines on {page}"]
    return tuple(shortened)


def _observed_answers(events: Sequence[Event]) -> Iterator[StepSeen]:
    """Yield the latest answer by evidence of each question, with the fields that decided it."""
    looks = {event.seq: event.facts for event in events if event.kind is RunEventKind.OBSERVED}
    last = {
        event.step: event.facts
        for event in events
        if event.kind is RunEventKind.DECIDED and event.facts["by"] == "evidence"
    }
    for step, facts in last.items():
        fields = looks[facts["seen"]]["fields"]
        named = [name for name in dict.fromkeys(facts["fields"]) if name in fields]
        readings = "; ".join(f"{name.replace('_', ' ')} = {fields[name]}" for name in named)
        yield StepSeen(
            step=step,
            answer=str(facts["answer"])[:MOST_CHARACTERS],
            target=str(looks[facts["seen"]]["target"]),
            because=readings[:MOST_CHARACTERS],
        )
