"""`bench fit-judge`: what the scorer's evidence says, and the chance that follows from it."""

import hashlib
from collections.abc import Mapping, Sequence

from evaluation.benches.scoring.judge_candidates import FAR, NEAR
from evaluation.fitting.chance import Sample, fit_chance
from evaluation.fitting.forests import areas, fit_forests
from evaluation.fitting.pieces import Piece
from evaluation.fitting.weighings import Row, fit_weighings, signs_of
from evaluation.measures.logic import LogicCase, logic_figures
from services.kit.fits.trees import Forest
from services.knowledge.ports import Embedder
from services.runbook.evidence.conditions import ConditionForests
from services.runbook.evidence.fact import FactKind, Forests
from services.scorer.criteria import FEATURES
from services.scorer.scoring_fit import ScoringFit, ScoringWeights

_FOLDS = 4

Rows = Sequence[Sequence[Piece]]
Signed = tuple[Piece, Row]


def fit(rows: Rows, unseen: Rows, embedder: Embedder, provenance: str) -> ScoringFit:
    """Fits on `rows`; `unseen` rows tell what it is worth.

    Weights and chance are fitted on facts that were decided by forests of other rows.
    """
    forests = fit_forests(rows)
    crossed = _crossed(rows)
    weighings = fit_weighings(crossed, provenance)
    shown = [*(each for pieces in crossed for each in pieces), *_signed(unseen, forests)]
    return ScoringFit(
        forests=Forests(forests=forests, provenance=provenance, figures=areas(forests, unseen)),
        weighings=weighings,
        chance=fit_chance(_samples(shown, weighings, embedder), provenance),
        conditions=ConditionForests.shipped(),
    )


def _crossed(rows: Rows) -> list[list[Signed]]:
    signed_rows: list[list[Signed]] = []
    for fold in range(_FOLDS):
        own = [pieces for pieces in rows if _fold(pieces) == fold]
        forests = fit_forests([pieces for pieces in rows if _fold(pieces) != fold])
        signed_rows += [_signed([pieces], forests) for pieces in own]
    return signed_rows


def _signed(rows: Rows, forests: Mapping[FactKind, Forest]) -> list[Signed]:
    return [(piece, signs_of(piece, forests)) for pieces in rows for piece in pieces]


def _samples(
    shown: Sequence[Signed], weighings: ScoringWeights, embedder: Embedder
) -> list[Sample]:
    """What somebody made of the row's own page.

    How likely another page treats the ticket is retrieval's to say, and nobody is served a copy
    with a mistake.
    """
    shown = [
        each for each in shown if each[0].origin not in {NEAR, FAR} and not each[0].is_made_worse
    ]
    cases = [
        LogicCase(piece.row.page, piece.row.reference, piece.case.workflow)
        for piece, _ in shown
        if piece.row.reference
    ]
    figures = logic_figures(cases, embedder)
    return [
        Sample.of(
            piece, _values(piece, signs, weighings), is_acceptable=bool(row_figures["acceptable"])
        )
        for (piece, signs), row_figures in zip(shown, figures, strict=True)
    ]


def _values(piece: Piece, signs: Row, weighings: ScoringWeights) -> dict[str, float]:
    fitted = {
        name: weighings.of(name).value({sign: v for (of, sign), v in signs.items() if of == name})
        for name in FEATURES
    }
    return fitted | {"relevance": piece.relevance}


def _fold(pieces: Sequence[Piece]) -> int:
    digest = hashlib.sha256(pieces[0].row.id.encode()).hexdigest()
    return int(digest, 16) // 2 % _FOLDS
