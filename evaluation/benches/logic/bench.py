"""`bench logic`: workflows for tickets against drawn pages, measured by their logic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.benches.planning.planners import is_sample
from evaluation.benches.retrieval.ranks import ranked_documents
from evaluation.material.gold_pages import PageOf, own_page
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_reader import Read, workflow_of
from evaluation.material.requests import RequestOf, plan_request, score_request
from evaluation.measures.figures import Figures
from evaluation.measures.logic import LogicCase, logic_figures
from services.contracts.planner import Planner
from services.contracts.retrieval import Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import ScoredCandidate, Scorer, ScoreRequest
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit, TicketDraft
from services.kit.files import read_json_lines
from services.knowledge.ports import Embedder
from services.tickets.page_choice.page_chooser import PageChoice
from services.tickets.walk.fit import Thresholds, judge_candidate
from services.workflow.model import StepKind, Workflow

_NEAR_TOP = 5


@dataclass(frozen=True)
class Made:
    """The workflow that was made for a row."""

    workflow: Workflow | None
    walk: Figures = field(default_factory=dict)
    """Whether its page was found and it would be shown, where the ticket was walked."""


@dataclass(frozen=True)
class LogicResult:
    """The figures of one row, as shares; what is not defined for it is missing."""

    id: str
    set: str
    figures: Figures
    walk: Figures = field(default_factory=dict)
    """Whether the walk found the page and would show the workflow; empty where none was walked."""
    workflow: Workflow | None = None

    def record(self) -> dict[str, object]:
        """As JSON for looking into single rows."""
        return {"id": self.id, "set": self.set, **self.figures, **self.walk}


Make = Callable[[LogicRow], Made]


class _Recorded(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str
    workflow: Workflow | None = None


def read_workflows(path: Path) -> dict[str, Workflow | None]:
    """Recorded workflows by the id of their row; of two for one row the last.

    Raises:
        PairsError: The file cannot be read, or a line holds no workflow.
    """
    return {line.id: line.workflow for _, line in read_json_lines(path, _Recorded)}


def recorded(workflows: Mapping[str, Workflow | None]) -> Make:
    """What a file holds for the row; a row that it does not name has no workflow."""
    return lambda row: Made(workflows.get(row.id))


def page_alone(page_of: PageOf, read: Read) -> Make:
    """Return a `Make` that reads the row's page alone: a reader's worth without retrieval."""

    def make(row: LogicRow) -> Made:
        reading = read(own_page(row) if row.text else page_of(row))
        ticket = f"{row.draft.title}\n{row.draft.description}".strip()
        return Made(workflow_of(reading, row.page, ticket) if reading else None)

    return make


def planned(
    request_of: RequestOf, planner_for: Callable[[LogicRow], Planner], scorer: Scorer
) -> Make:
    """Of the model's workflows for the row's page alone, the one that the scorer takes."""

    def make(row: LogicRow) -> Made:
        request = request_of(row)
        candidates = planner_for(row).plan(request).candidates
        samples = tuple(candidate for candidate in candidates if is_sample(candidate))
        if not samples:
            return Made(None)
        scoring = ScoreRequest(
            ticket=request.ticket, context=request.context, pages=request.pages, candidates=samples
        )
        return Made(scorer.score(scoring).ranked[0].candidate.workflow)

    return make


def walked(
    retrieval_for: Callable[[LogicRow], Retrieval],
    planner_for: Callable[[LogicRow], Planner],
    scorer: Scorer,
    thresholds: Thresholds,
    alone: Make,
) -> Make:
    """The whole walk from the ticket to the best workflow, whether or not it would be shown.

    A row that holds its text has no page to be found, and is made by `alone`.
    """

    def make(row: LogicRow) -> Made:
        if row.text:
            return alone(row)
        ticket = row.draft
        context = retrieval_for(row).retrieve(RetrieveRequest.of_ticket(ScreenedTicket(ticket)))
        candidates = planner_for(row).plan(plan_request(ticket, context)).candidates
        request = score_request(ticket, context, candidates)
        ranked = scorer.score(request).ranked if candidates else ()
        return Made(
            ranked[0].candidate.workflow if ranked else None,
            _page_ranks(row, context) | standing(ticket, context, ranked, thresholds),
        )

    return make


def standing(
    ticket: TicketDraft,
    context: RetrievedContext,
    ranked: Sequence[ScoredCandidate],
    thresholds: Thresholds,
    choice: PageChoice | None = None,
) -> Figures:
    """Whether the platform would show the best workflow, and be sure of it.

    With a model's `choice` the context is as that leaves it.
    """
    fit = choice.fit if choice else thresholds.fit_of(context)
    if fit is None or not ranked:
        return {"shown": 0.0, "sure": 0.0}
    is_sure = judge_candidate(ticket, context, ranked[0], fit, choice).fit is Fit.SURE
    return {"shown": 1.0, "sure": float(is_sure)}


def measure(
    rows: Sequence[LogicRow], make: Make, embedder: Embedder, advance: Callable[[], None]
) -> list[LogicResult]:
    """Makes a workflow for every row, then measures them all at once."""
    made: list[Made] = []
    for row in rows:
        made.append(make(row))
        advance()
    cases = {
        row.id: LogicCase(row.page, row.reference, one.workflow)
        for row, one in zip(rows, made, strict=True)
        if row.reference
    }
    figures = dict(zip(cases, logic_figures(list(cases.values()), embedder), strict=True))
    return [
        LogicResult(row.id, row.set, figures.get(row.id) or _straight(one), one.walk, one.workflow)
        for row, one in zip(rows, made, strict=True)
    ]


def drawn_cases(rows: Sequence[LogicRow], results: Sequence[LogicResult]) -> list[LogicCase]:
    """Each drawn row beside the workflow that was made for it."""
    workflows = {each.id: each.workflow for each in results}
    return [LogicCase(r.page, r.reference, workflows[r.id]) for r in rows if r.reference]


def _straight(made: Made) -> Figures:
    """Of a page without conditions: any decision is the reader's own."""
    steps = made.workflow.steps if made.workflow else ()
    decides = any(step.kind is StepKind.DECISION and not step.implied for step in steps)
    return {"found": float(bool(steps)), "given_decision": float(decides)}


def _page_ranks(row: LogicRow, context: RetrievedContext) -> Figures:
    ranked = ranked_documents(context)
    return {
        "page_first": float(ranked[:1] == [row.page]),
        "page_in_five": float(row.page in ranked[:_NEAR_TOP]),
    }
