"""`bench duels`: a drawing against one workflow that is worse, each pair scored alone."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation.benches.scoring.judge import Reader
from evaluation.benches.scoring.judge_candidates import (
    ONE_GUARD,
    Shown,
    made_by_readers,
    one_guard_wrong,
    reference_of,
)
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_contexts import PageContexts
from evaluation.material.requests import score_request
from evaluation.measures.figures import Figures
from evaluation.measures.logic import LogicCase, logic_figures
from services.contracts.planner import Candidate
from services.contracts.scorer import Scorer, ScoreRequest
from services.knowledge.ports import Embedder

_APART = 0.05
"""Guards F1 by which a reading must be worse than the drawing."""
_RIGHT, _WORSE = "right", "worse"


@dataclass(frozen=True)
class Duel:
    """One pair of workflows of one page."""

    row: LogicRow
    worse: Shown
    request: ScoreRequest


@dataclass(frozen=True)
class Duels:
    """Makes and decides them."""

    pages: PageContexts
    embedder: Embedder
    readers: Mapping[str, Reader]
    seed: int = 0

    def all(self, rows: Sequence[LogicRow]) -> list[Duel]:
        """What readers made, where its guards are worse, and the drawing with one wrong guard."""
        duels = [Duel(row, worse, self._request(row, worse)) for row, worse in self._worse(rows)]
        cases = [LogicCase(d.row.page, d.row.reference, d.worse.workflow) for d in duels]  # type: ignore[arg-type]
        figures = logic_figures(cases, self.embedder)
        return [
            duel
            for duel, of in zip(duels, figures, strict=True)
            if duel.worse.origin == ONE_GUARD or of["guards"] <= 1 - _APART
        ]

    def _worse(self, rows: Sequence[LogicRow]) -> Iterator[tuple[LogicRow, Shown]]:
        for row in rows:
            if row.reference is None:
                continue
            read = made_by_readers({name: of(row) for name, of in self.readers.items()})
            rng = random.Random(f"{self.seed}/{row.id}")  # noqa: S311
            for worse in (*read, *one_guard_wrong(reference_of(row), rng)):
                yield row, worse

    def _request(self, row: LogicRow, worse: Shown) -> ScoreRequest:
        candidates = (
            Candidate(id=_RIGHT, workflow=reference_of(row)),
            Candidate(id=_WORSE, workflow=worse.workflow),
        )
        return score_request(row.draft, self.pages.context(row.draft, [row]), candidates)


def fought(
    duels: Sequence[Duel], scorer: Scorer, advance: Callable[[], None]
) -> dict[str, Figures]:
    """By origin of the worse one: how often the drawing has the higher score; a draw is half."""
    won: dict[str, list[float]] = {}
    for duel in duels:
        won.setdefault(duel.worse.origin, []).append(_won(scorer, duel.request))
        advance()
    return {
        origin: {"n": len(shares), "right above": round(100 * fmean(shares), 1)}
        for origin, shares in won.items()
    }


def _won(scorer: Scorer, request: ScoreRequest) -> float:
    overall = {s.candidate.id: s.score.overall for s in scorer.score(request).ranked}
    right, worse = overall[_RIGHT], overall[_WORSE]
    return 0.5 if right == worse else float(right > worse)
