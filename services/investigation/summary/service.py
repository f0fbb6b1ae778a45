"""Summaries of runs: learned on request, and proposed by a task."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from services.contracts.execution import RunMode
from services.contracts.proposals import (
    ProposalOrigin,
    Proposals,
    ProposedPage,
    SourceRun,
)
from services.contracts.searching import SearchOutcome
from services.contracts.summaries import LearnedPage, SummaryReport, SummaryRequest
from services.contracts.ticket import PurgedTickets
from services.execution.bindings.binding import Binding, digest_of
from services.execution.runs.store import RunStore, StoredRun
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.tool import ToolEffect
from services.investigation.search.store import SearchStore
from services.investigation.summary.by_model import model_learner
from services.investigation.summary.learned_workflow import VERSION, LearnedWorkflow
from services.investigation.summary.page import plain_title
from services.investigation.summary.store import (
    NotProposableError,
    ProposalRef,
    StoredSummary,
    SummaryStore,
)
from services.investigation.summary.summarise import MeasuredWorkflow, summarise_traces
from services.investigation.summary.trace import join_traces, trace_of_search
from services.kit.access.caller import current_caller
from services.kit.errors import ConflictError, NotFoundError, UnavailableError
from services.llm.chat_model import ChatModel
from services.workflow.model import StepKind

MOST_RUNS = 200


class NothingDoneError(ConflictError):
    """Error of runs of which one is not over, or in which no tool was called."""


class StillDrivenError(UnavailableError):
    """Error of a run or search of a purged ticket that a worker drives."""


class SummaryService:
    """Implements `Summaries`."""

    def __init__(
        self,
        runs: RunStore,
        store: SummaryStore,
        searches: SearchStore,
        *,
        catalogue: Callable[[], Catalogue],
        proposals: Callable[[], Proposals],
        model: ChatModel | None = None,
    ) -> None:
        """Wire the service; `proposals` is called when something is proposed."""
        self._runs = runs
        self._store = store
        self._searches = searches
        self._catalogue = catalogue
        self._proposals = proposals
        self._model = model

    def summarise(self, request: SummaryRequest) -> SummaryReport:
        """See `Summaries.summarise`."""
        runs = self._requested_runs(request)
        taught = self._store.with_teachers(runs)
        if runs and not taught:
            raise NothingDoneError("what was done in these runs is taken back")
        done = [each for each in taught if each.calls]
        if not done:
            raise NothingDoneError("no tool was asked anything in these runs")
        tickets = {each.ticket for each in taught}
        search_traces = [
            trace_of_search(self._searches.load(over.id))
            for ticket in sorted(tickets)
            for over in self._searches.of_ticket(ticket)
            if over.outcome is SearchOutcome.DIAGNOSED
        ]
        traces = [*done, *(each for each in search_traces if each.calls)]
        title = plain_title(request.title)
        key = digest_of(VERSION, title, sorted(each.id for each in traces))
        if not self._store.exists(key):
            trace_ids = {each.id for each in traces}
            self._store.keep(
                key,
                title,
                [_source(each) for each in runs if each.run.id in trace_ids],
                traces,
                summarise_traces(traces, self._catalogue(), title),
                by=current_caller().name,
                draws=self._model is not None,
            )
        return self.summary(key)

    def summary(self, key: str) -> SummaryReport:
        """See `Summaries.summary`."""
        return _report(self._store.load(key), self._catalogue())

    def propose(self, key: str) -> SummaryReport:
        """See `Summaries.propose`."""
        runs = [self._runs.load(each.run_id) for each in self._store.load(key).runs]
        if len(self._store.with_teachers(runs)) < len(runs):
            raise NotProposableError("what some of its runs taught is taken back: summarise anew")
        self._store.queue_proposal(key, current_caller().name)
        return self.summary(key)

    # Tasks

    def draw(self, key: str) -> None:
        """Ask the model for a better graph; a retry costs its question again."""
        stored, catalogue = self._store.load(key), self._catalogue()
        others = [model_learner(self._model, catalogue, stored.title)] if self._model else []
        self._store.draw(key, summarise_traces(stored.traces, catalogue, stored.title, *others))

    def hand_in(self, key: str) -> None:
        """Propose the pages and store their bindings; a retry makes the same proposal."""
        stored, catalogue, peer = self._store.load(key), self._catalogue(), self._proposals()
        made: list[ProposalRef] = []
        bindings: dict[str, Binding] = {}
        for place, each in enumerate(stored.workflows):
            detail = peer.propose(_page(stored, place, each.learned))
            made.append(ProposalRef(id=detail.id, document_id=detail.document_id))
            kept = each.learned.model_copy(update={"procedure": detail.reading.procedures[0]})
            bindings |= kept.bindings_by_key(detail.document_id)
        executable = {k: b for k, b in bindings.items() if b.tool in catalogue.by_name}
        digests = {b.tool: catalogue.tool(b.tool).digest for b in executable.values()}
        self._store.propose(key, made, executable, digests)

    def forget_tickets(self, purged: PurgedTickets) -> None:
        """See `Summaries.forget_tickets`."""
        for stored in self._store.of_tickets(purged.ids):
            self._store.forget(stored.key, self._unused_bindings(stored))
        is_left = [not each.forget(purged.ids) for each in (self._runs, self._searches)]
        if any(is_left):
            raise StillDrivenError("a run or search of the tickets is under way: it waits for it")

    def _unused_bindings(self, stored: StoredSummary) -> set[str]:
        """Return the keys of the learned bindings whose pages nobody can accept any more."""
        keys = set[str]()
        for each, proposed in zip(stored.workflows, stored.proposals, strict=False):
            try:
                self._proposals().proposal(proposed.id)
            except NotFoundError:
                keys |= set(each.learned.bindings_by_key(proposed.document_id))
        return keys

    def _requested_runs(self, request: SummaryRequest) -> list[StoredRun]:
        """Return the runs, each once, that are over and not dry.

        Raises:
            NothingDoneError: One that is named is not over, or there are too many.
        """
        named = dict.fromkeys(request.run_ids)
        of_tickets = [
            run.id
            for ticket in dict.fromkeys(request.ticket_ids)
            for run in self._runs.of_ticket(ticket)
            if run.outcome is not None and run.mode is not RunMode.DRY
        ]
        wanted = dict.fromkeys([*named, *of_tickets])
        if len(wanted) > MOST_RUNS:
            raise NothingDoneError(f"at most {MOST_RUNS} runs are summarised together")
        runs = [self._runs.load(each) for each in wanted]
        for each in runs:
            if each.state.outcome is None:
                raise NothingDoneError(f"the run {each.run.id} is not over")
        return [each for each in runs if each.run.mode is not RunMode.DRY]


def _source(stored: StoredRun) -> SourceRun:
    run, outcome = stored.run, stored.state.outcome
    at = stored.events[-1].at if stored.events else 0.0
    return SourceRun(
        ticket_id=run.ticket.id,
        ticket_title=plain_title(run.ticket.title),
        run_id=run.id,
        outcome=outcome.value if outcome else "",
        at=datetime.fromtimestamp(at, UTC),
    )


def _page(stored: StoredSummary, place: int, learned: LearnedWorkflow) -> ProposedPage:
    by_ticket = {
        run.ticket_id: run for run in sorted(stored.runs, key=lambda run: (run.at, run.run_id))
    }
    return ProposedPage(
        key=f"learned:{stored.key}:{place}",
        title=learned.title,
        text=learned.text,
        reading=learned.reading,
        origin=ProposalOrigin.LEARNED,
        runs=tuple(run for ticket, run in by_ticket.items() if ticket in learned.tickets),
        proposed_by=" and ".join(dict.fromkeys((stored.by, stored.proposed_by)))[:200],
    )


def _report(stored: StoredSummary, catalogue: Catalogue) -> SummaryReport:
    proposals: Sequence[ProposalRef | None] = stored.proposals or [None] * len(stored.workflows)
    return SummaryReport(
        key=stored.key,
        title=stored.title,
        state=stored.state,
        traces=len(join_traces(stored.traces)),
        pages=tuple(
            _to_learned_page(each, proposed, catalogue)
            for each, proposed in zip(stored.workflows, proposals, strict=True)
        ),
        refused=stored.refused,
        by=stored.by,
        at=stored.at,
    )


def _to_learned_page(
    measured: MeasuredWorkflow, proposed: ProposalRef | None, catalogue: Catalogue
) -> LearnedPage:
    learned = measured.learned
    steps = learned.workflow().steps
    tools = dict.fromkeys(each.tool for each in learned.bindings())
    return LearnedPage(
        title=learned.title,
        text=learned.text,
        learned_from=learned.learned_from,
        by_model=learned.by_model,
        steps=len(steps),
        decisions=sum(step.kind is StepKind.DECISION for step in steps),
        changes=tuple(
            name
            for name in tools
            if name in catalogue.by_name and catalogue.tool(name).effect is ToolEffect.CHANGE
        ),
        replayed=measured.replayed,
        left_out=measured.left_out,
        proposal_id=proposed.id if proposed else "",
        document_id=proposed.document_id if proposed else "",
    )
