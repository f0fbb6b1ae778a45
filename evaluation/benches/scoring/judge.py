"""`bench judge`: does the scorer tell right from wrong on drawn pages?

Each row's page is given. Beside the reference the scorer is shown what readers made of the page,
the reference made worse in every way, and the references of other pages.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.benches.scoring.judge_candidates import (
    BESIDE,
    FAR,
    NEAR,
    REFERENCE,
    Shown,
    checked,
    made_by_readers,
    perturbed,
    reference_of,
)
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_contexts import PageContexts
from evaluation.material.pairs import is_fitted
from evaluation.material.requests import score_request
from evaluation.measures.logic import LogicCase, logic_figures
from evaluation.measures.telling_apart import OVERALL, Judgement
from services.contracts.planner import Candidate
from services.contracts.scorer import ScoredCandidate, Scorer
from services.knowledge.ports import Embedder
from services.workflow.model import Step, Workflow

Reader = Callable[[LogicRow], Workflow | None]


@dataclass(frozen=True)
class Neighbours:
    """Another page of the same set, the nearest by its ticket, and one of another set."""

    near: Mapping[str, LogicRow]
    far: Mapping[str, LogicRow]

    @classmethod
    def of(cls, rows: Sequence[LogicRow], embedder: Embedder) -> "Neighbours":
        """Sets of one page have no near one; a single set has no far ones."""
        tickets = [f"{row.draft.title}\n{row.draft.description}" for row in rows]
        vectors = embedder.embed(tickets)
        alike = vectors @ vectors.T
        same = np.array([[one.set == other.set for other in rows] for one in rows])
        pages = np.array([[one.page == other.page for other in rows] for one in rows])
        return cls(
            _nearest(rows, np.where(same & ~pages, alike, -np.inf)),
            _nearest(rows, np.where(~same & ~pages, alike, -np.inf)),
        )


@dataclass(frozen=True)
class JudgeBench:
    """Shows the scorer everything, a row at a time."""

    scorer: Scorer
    pages: PageContexts
    embedder: Embedder
    readers: Mapping[str, Reader]
    severities: Sequence[float] = (0.3,)
    draws: int = 1
    seed: int = 0

    def run(
        self, rows: Sequence[LogicRow], pool: Sequence[LogicRow], advance: Callable[[], None]
    ) -> list[Judgement]:
        """Scores the rows, other pages taken from `pool`; then measures every workflow."""
        drawn = [row for row in rows if row.reference]
        neighbours = Neighbours.of([row for row in pool if row.reference], self.embedder)
        by_row = []
        for row in drawn:
            by_row.append([*self.own(row, neighbours), *self.beside(row, neighbours)])
            advance()
        return self._measured(drawn, by_row)

    def own(self, row: LogicRow, neighbours: Neighbours) -> list[tuple[Shown, ScoredCandidate]]:
        """What is shown of the row's own page, scored with nothing but this page."""
        readers = {name: read(row) for name, read in self.readers.items()}
        foreign = _steps(neighbours.near.get(row.id) or neighbours.far.get(row.id))
        shown = [
            Shown(REFERENCE, checked(reference_of(row))),
            *made_by_readers(readers),
            *perturbed(row, foreign, self.severities, self.draws, self.seed),
        ]
        return self._judged(row, [row], shown)

    def beside(
        self, row: LogicRow, neighbours: Neighbours
    ) -> Iterator[tuple[Shown, ScoredCandidate]]:
        """The references of other pages, scored for this ticket with these pages in the context."""
        nearest = {NEAR: neighbours.near.get(row.id), FAR: neighbours.far.get(row.id)}
        others = {name: other for name, other in nearest.items() if other}
        if others:
            shown = [Shown(BESIDE, checked(reference_of(row)))]
            shown += [Shown(name, checked(reference_of(other))) for name, other in others.items()]
            yield from self._judged(row, [row, *others.values()], shown)

    def _judged(
        self, row: LogicRow, pages: Sequence[LogicRow], shown: Sequence[Shown]
    ) -> list[tuple[Shown, ScoredCandidate]]:
        candidates = [Candidate(id=str(n), workflow=s.workflow) for n, s in enumerate(shown)]
        context = self.pages.context(row.draft, pages)
        ranked = self.scorer.score(score_request(row.draft, context, candidates)).ranked
        return [(shown[int(scored.candidate.id)], scored) for scored in ranked]

    def _measured(
        self,
        rows: Sequence[LogicRow],
        by_row: Sequence[Sequence[tuple[Shown, ScoredCandidate]]],
    ) -> list[Judgement]:
        each = [(row, *one) for row, scored in zip(rows, by_row, strict=True) for one in scored]
        cases = [
            LogicCase(row.page, row.reference, shown.workflow)
            for row, shown, _ in each
            if row.reference
        ]
        figures = logic_figures(cases, self.embedder)
        return [
            _judgement(row, shown, scored, of)
            for (row, shown, scored), of in zip(each, figures, strict=True)
        ]


def _judgement(
    row: LogicRow, shown: Shown, scored: ScoredCandidate, figures: Mapping[str, float]
) -> Judgement:
    score = scored.score
    values = {name: dimension.value for name, dimension in score.dimensions.items()}
    return Judgement(
        row=row.id,
        set=row.set,
        is_fitted=is_fitted(row.id),
        origin=shown.origin,
        severity=shown.severity,
        draw=shown.draw,
        harm=round(shown.harm, 4),
        values=values | {OVERALL: score.overall},
        chance=score.chance,
        good_enough=scored.good_enough,
        acceptable=bool(figures["acceptable"]),
        guards=round(figures["guards"], 4),
    )


def _nearest(
    rows: Sequence[LogicRow], alike: "np.ndarray[tuple[int, int], np.dtype[np.float32]]"
) -> dict[str, LogicRow]:
    return {
        row.id: rows[int(np.argmax(near))]
        for row, near in zip(rows, alike, strict=True)
        if np.isfinite(near).any()
    }


def _steps(row: LogicRow | None) -> tuple[Step, ...]:
    return reference_of(row).steps if row else ()
