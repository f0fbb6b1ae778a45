"""`bench best-of-n`: is the candidate that the scorer takes the best one?

Tickets whose plans were recorded, their page given: the recorded samples compete with what is read
on the page without asking.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_contexts import PageContexts
from evaluation.material.recorded_plans import RecordedPlanner, RecordedPlans
from evaluation.material.requests import plan_request, score_request
from evaluation.measures.figures import Figures
from evaluation.measures.logic import LogicCase, logic_figures
from services.contracts.planner import SERVED_BY
from services.contracts.scorer import Scorer, ScoreRequest
from services.knowledge.ports import Embedder
from services.workflow.model import Workflow

_APART = 0.05
"""Guards F1 from which one of two candidates is the better one."""
_COLUMNS = ("guards", "profile", "loose", "core", "nodes", "acceptable")


@dataclass(frozen=True)
class Contender:
    """A candidate for a ticket, as the scorer ranked it."""

    workflow: Workflow
    rank: int
    """0 for the one that is taken."""
    figures: Figures

    @property
    def is_read(self) -> bool:
        """Whether no model wrote it for this ticket."""
        origin = self.workflow.provenance
        return origin is not None and origin.planner == SERVED_BY


Contest = Sequence[Contender]
"""All candidates of one ticket, best ranked first."""


@dataclass(frozen=True)
class BestOfN:
    """Plans and ranks the recorded tickets."""

    pages: PageContexts
    embedder: Embedder
    plans: Mapping[str, RecordedPlans]

    def contests(
        self, rows: Sequence[LogicRow], scorer: Scorer, advance: Callable[[], None]
    ) -> list[Contest]:
        """One for each row that was recorded."""
        ranked = []
        for row in rows:
            ranked.append(_ranked(scorer, self.request(row)))
            advance()
        cases = [
            LogicCase(row.page, row.reference, workflow)
            for row, workflows in zip(rows, ranked, strict=True)
            for workflow in workflows
            if row.reference
        ]
        figures = iter(logic_figures(cases, self.embedder))
        return [
            [Contender(workflow, rank, next(figures)) for rank, workflow in enumerate(workflows)]
            for workflows in ranked
        ]

    def request(self, row: LogicRow) -> ScoreRequest:
        """All candidates for one ticket."""
        context = self.pages.context(row.draft, [row])
        planner = RecordedPlanner(self.plans[row.id], self.embedder)
        candidates = planner.plan(plan_request(row.draft, context)).candidates
        return score_request(row.draft, context, candidates)


def figures_of(contests: Sequence[Contest]) -> dict[str, Figures]:
    """Means over tickets: what is read, the samples, what is taken, and the best there is."""
    return {
        "read": _mean(contests, lambda contest: [c for c in contest if c.is_read][:1]),
        "samples": _mean(contests, lambda contest: [c for c in contest if not c.is_read]),
        "taken": _mean(contests, lambda contest: contest[:1]),
        "best": _mean(contests, lambda contest: [max(contest, key=_guards)]),
        "pairs": _pairs(contests),
    }


def _ranked(scorer: Scorer, request: ScoreRequest) -> list[Workflow]:
    return [each.candidate.workflow for each in scorer.score(request).ranked]


def _mean(contests: Sequence[Contest], choose: Callable[[Contest], Contest]) -> Figures:
    """Each ticket counts once, whatever number of candidates is chosen."""
    chosen = [contenders for contest in contests if (contenders := choose(contest))]
    figures: Figures = {"n": len(chosen)}
    for name in _COLUMNS:
        means = [
            fmean(values)
            for contenders in chosen
            if (values := [c.figures[name] for c in contenders if name in c.figures])
        ]
        if means:
            figures[name] = round(100 * fmean(means), 1)
    return figures


def _pairs(contests: Sequence[Contest]) -> Figures:
    """Of two candidates of a ticket whose guards are apart: is the better one ranked first?"""
    won = {
        name: [
            float((one.rank < other.rank) == (_guards(one) > _guards(other)))
            for contest in contests
            for one, other in itertools.combinations(contest, 2)
            if abs(_guards(one) - _guards(other)) >= _APART and wanted(one, other)
        ]
        for name, wanted in _KINDS.items()
    }
    shares = {name: round(100 * fmean(hits), 1) for name, hits in won.items() if hits}
    return shares | {f"{name}, n": len(hits) for name, hits in won.items()}


def _guards(contender: Contender) -> float:
    return float(contender.figures["guards"])


_KINDS: Mapping[str, Callable[[Contender, Contender], bool]] = {
    "all": lambda _one, _other: True,
    "read and sample": lambda one, other: one.is_read != other.is_read,
    "two samples": lambda one, other: not one.is_read and not other.is_read,
}
