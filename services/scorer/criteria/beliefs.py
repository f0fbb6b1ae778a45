"""How likely the facts of one kind are together."""

import math
from collections.abc import Sequence

from services.procedure.evidence.decide import Decided
from services.procedure.evidence.fact import FactKind
from services.procedure.evidence.odds import log_odds

_SUREST = 0.02
"""No fact counts as surer than this, either way."""
_NO_FACT = 1.0
"""Log-odds that stand where there is no fact of the kind: those of a usual one."""


def beliefs(decided: Sequence[Decided], *kinds: FactKind) -> dict[str, float]:
    """For each kind the mean log-odds, and the sum of those against, over the root of their number.

    The root makes one false fact of many count, and two count more.
    """
    signs: dict[str, float] = {}
    for kind in kinds:
        odds = [
            log_odds(each.chance, nearest=_SUREST) for each in decided if each.fact.kind is kind
        ]
        against = math.fsum(min(0.0, each) for each in odds)
        signs[f"{kind} facts"] = math.fsum(odds) / len(odds) if odds else _NO_FACT
        signs[f"{kind} facts, against"] = against / math.sqrt(len(odds)) if odds else 0.0
    return signs
