"""What the scorer is fitted on: drawings, the same drawings with mistakes, and flawed readings."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.benches.scoring.judge import Neighbours, Reader
from evaluation.benches.scoring.judge_candidates import (
    FAR,
    NEAR,
    Shown,
    made_by_readers,
    reference_of,
)
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_contexts import PageContexts
from evaluation.material.requests import score_request
from evaluation.perturbations.kinds import Perturbation, PerturbationError
from evaluation.perturbations.perturb import perturb
from services.contracts.planner import Candidate
from services.knowledge.ports import Embedder
from services.runbook.evidence.fact import Fact, Forests
from services.runbook.evidence.facts import facts_of
from services.scorer.cases import ScoringCase
from services.scorer.relevance import TicketFit, relevance
from services.scorer.scoring_fit import ScoringFit
from services.scorer.service import ScorerService
from services.workflow.model import Step

REFERENCE = "reference"
_ONCE = 1e-6
_SEVERITIES = (_ONCE, _ONCE, 0.3)
"""Mistakes are made once, twice drawn, and at a share of the occasions."""


@dataclass(frozen=True)
class Piece:
    """One workflow with all that the scorer sees of it before anything is fitted."""

    row: LogicRow
    origin: str
    """`reference`, a kind of perturbation, or a reader."""
    case: ScoringCase
    relevance: float
    """1–5, which hangs on the ticket."""
    facts: Sequence[tuple[Fact, Mapping[str, float]]]

    @property
    def is_made_worse(self) -> bool:
        """Whether it is a copy of the reference, so that their facts have the same ids."""
        return self.origin in {kind.value for kind in Perturbation}


@dataclass(frozen=True)
class Workshop:
    """Makes the pieces of rows."""

    pages: PageContexts
    embedder: Embedder
    readers: Mapping[str, Reader]

    def pieces(self, rows: Sequence[LogicRow], advance: Callable[[], None]) -> list[list[Piece]]:
        """For each row its reference first, then all else."""
        neighbours = Neighbours.of(rows, self.embedder)
        undecided = replace(ScoringFit.shipped(), forests=Forests(forests={}))
        scorer = ScorerService(self.embedder, fitted=undecided, counts_votes=False)
        by_row = []
        for row in rows:
            near, far = neighbours.near.get(row.id), neighbours.far.get(row.id)
            other = near or far
            foreign = reference_of(other).steps if other else ()
            own = self._of(row, [row], [*self._shown(row, foreign)], scorer)
            others = {NEAR: near, FAR: far}
            beside = [Shown(name, reference_of(page)) for name, page in others.items() if page]
            pages = [row, *(page for page in others.values() if page)]
            by_row.append(own + self._of(row, pages, beside, scorer))
            advance()
        return by_row

    def _of(
        self,
        row: LogicRow,
        pages: Sequence[LogicRow],
        shown: Sequence[Shown],
        scorer: ScorerService,
    ) -> list[Piece]:
        context = self.pages.context(row.draft, pages)
        candidates = [Candidate(id=str(n), workflow=s.workflow) for n, s in enumerate(shown)]
        cases = scorer.cases(score_request(row.draft, context, candidates))
        fit = TicketFit.of(context)
        return [
            Piece(
                row,
                each.origin,
                case,
                relevance(scorer.of_page(case), fit).value,
                facts_of(case.drawn),
            )
            for each, case in zip(shown, cases, strict=True)
        ]

    def _shown(self, row: LogicRow, foreign: Sequence[Step]) -> Iterator[Shown]:
        yield Shown(REFERENCE, reference_of(row))
        yield from made_by_readers({name: read(row) for name, read in self.readers.items()})
        for kind in Perturbation:
            for draw, severity in enumerate(_SEVERITIES):
                rng = random.Random(f"fit/{row.id}/{kind}/{draw}")  # noqa: S311
                try:
                    worse = perturb(reference_of(row), kind, severity, rng, foreign)
                except PerturbationError:
                    continue
                yield Shown(kind.value, worse, severity, draw)
