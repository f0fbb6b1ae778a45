"""`bench fit-facts`: what the scorer's evidence says, from drawn pages."""

import hashlib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from evaluation.fitting.forests import areas, fit_forests
from evaluation.fitting.material import Piece
from evaluation.fitting.weighings import Row, fit_weighings, signs_of
from services.scorer.criteria.weighing import Weighings
from services.scorer.facts.decide import Forests
from services.scorer.facts.fact import FactKind
from services.scorer.facts.trees import Forest

_FOLDS = 4

Rows = Sequence[Sequence[Piece]]


class Fitted(BaseModel):
    """Both parts of the evidence, fitted on the same rows."""

    model_config = ConfigDict(frozen=True)

    forests: Forests
    weighings: Weighings


def fit(rows: Rows, unseen: Rows, provenance: str) -> Fitted:
    """Fits on `rows`; `unseen` rows tell what it is worth.

    Weights are fitted on facts that were decided by forests of other rows.
    """
    forests = fit_forests(rows)
    return Fitted(
        forests=Forests(forests=forests, provenance=provenance, figures=areas(forests, unseen)),
        weighings=fit_weighings(_crossed(rows), provenance),
    )


def _crossed(rows: Rows) -> list[list[tuple[Piece, Row]]]:
    found: list[list[tuple[Piece, Row]]] = []
    for fold in range(_FOLDS):
        own = [pieces for pieces in rows if _fold(pieces) == fold]
        forests = fit_forests([pieces for pieces in rows if _fold(pieces) != fold])
        found += [_with_signs(pieces, forests) for pieces in own]
    return found


def _with_signs(
    pieces: Sequence[Piece], forests: Mapping[FactKind, Forest]
) -> list[tuple[Piece, Row]]:
    return [(piece, signs_of(piece, forests)) for piece in pieces]


def _fold(pieces: Sequence[Piece]) -> int:
    digest = hashlib.sha256(pieces[0].row.id.encode()).hexdigest()
    return int(digest, 16) // 2 % _FOLDS
