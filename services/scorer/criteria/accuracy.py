"""Accuracy: do the sources say what the steps say?"""

import math

from services.contracts.scorer import Dimension
from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounded
from services.procedure.evidence.fact import FactKind
from services.scorer.criteria.beliefs import beliefs
from services.scorer.criteria.case import ScoringCase, short
from services.scorer.criteria.weighing import Signs

_UNCLAIMED = 0.75
"""What support counts for where the step does not name its source."""


def signs(case: ScoringCase) -> Signs:
    """How far the lines say the steps, and how likely its questions are the page's.

    Support is told by its root: it is measured by words, and a source seldom says a step in just
    the words of the step.
    """
    supports = [_support(case.evidence, found) for found in case.told]
    mean = sum(supports) / len(supports) if supports else 0.0
    return {"support": math.sqrt(mean), **beliefs(case.decided, FactKind.QUESTION)}


def accuracy(case: ScoringCase) -> Dimension:
    """The support of the steps by the lines they cite, foreign commands, invented questions."""
    return Dimension(value=case.weighings.of("accuracy").value(signs(case)), reason=_reason(case))


def _support(evidence: Evidence, found: Grounded) -> float:
    support = found.support if found.claimed else _UNCLAIMED * found.support
    commands = found.step.commands
    quoted = sum(evidence.quotes(command) for command in commands)
    return support * (1 + quoted) / (1 + len(commands))


def _reason(case: ScoringCase) -> str:
    claimed = sum(found.claimed for found in case.told)
    unsupported = [found.step for found in case.told if not found.is_grounded]
    reason = f"The cited lines support {claimed} of {len(case.told)} steps"
    return (
        f"{reason}; no source says {short(unsupported[0].text)}." if unsupported else f"{reason}."
    )
