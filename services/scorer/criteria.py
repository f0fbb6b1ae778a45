"""Criteria of a candidate on its page: coverage, accuracy, coherence and conciseness."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache

from services.contracts.scorer import Dimension
from services.grounding.evidence import terms_of
from services.grounding.grounder import GROUNDED, GroundedStep
from services.kit.text import ellipsize, squeeze
from services.runbook.evidence.fact import (
    FactKind,
    ScoredFact,
    in_words,
    least_likely,
    log_odds,
)
from services.runbook.evidence.grounded_workflow import brevity_features, coverage_features
from services.scorer.cases import ScoringCase
from services.scorer.scoring_fit import Features, on_scale
from services.workflow.graph import reachable, successors
from services.workflow.lint import Severity
from services.workflow.model import Step, StepKind, Workflow

_LONGEST_QUOTE = 80
_MISSING_NAMED = 2
"""Missing lines that the reason of coverage names."""
_UNCLAIMED = 0.75
"""Factor on the support of a step that does not name its source."""
_SUREST = 0.02
"""Least chance of error of any fact, either way."""
_NO_FACT = 1.0
"""Log-odds if there is no fact of the kind: those of a usual one."""
_COHERENCE_KINDS = (FactKind.GUARD, FactKind.FREE, FactKind.ARROW, FactKind.END)
_ERROR_COST = 0.04
"""Share of the scale that one lint error takes. Little: workflows with errors rank last anyhow."""
_DOUBTED = 0.5
"""Chance below which a fact is named."""
_LONGEST_STEP = 40
"""Words; instructions beyond two sentences are read twice (the usual advice of style guides for
procedures is 20–25 words a sentence)."""
_MANY_STEPS = 40
"""Steps of one run, from the start to an end, beyond which an engineer under pressure loses the
thread; how many branches he does not take is no matter."""
_FEW_STEPS = 3
"""Steps below which it is no workflow: short because it says nothing."""
_BESIDE_COST, _LONG_COST = 0.15, 0.3
"""Costs of a step beside the point, and of one twice too long; a duplicate costs 1. Little for the
first, since accuracy and relevance count it too.
"""
_SAME = 0.85
"""Share of common words from which two steps are duplicates."""
_SAME_AGAIN = 0.7
"""Share from which a step duplicates the one right before it: who says nearly the same twice in a
row seldom means two things.
"""


def quote(text: str) -> str:
    """Quote a text, cut to a few words."""
    return f"“{ellipsize(squeeze(text), _LONGEST_QUOTE)}”"


def features_of_coverage(case: ScoringCase) -> Features:
    """Return how much it contains of what its own page instructs."""
    return coverage_features(case.drawn, case.drawn.roles)


def coverage(case: ScoringCase) -> Dimension:
    """Score how much it contains of what its own page instructs, and name missing lines."""
    value = case.weighings.of("coverage").value(features_of_coverage(case))
    instructing = case.drawn.roles.instructing | case.drawn.roles.conditional
    if not instructing:
        return Dimension(value=value, reason="Its page tells no step to compare with.")
    missing = sorted(instructing - case.drawn.lines_of(case.workflow.steps))
    covered = len(instructing) - len(missing)
    reason = f"It holds {covered} of {len(instructing)} lines that tell what to do"
    if missing:
        words = (case.drawn.pages.words(line) for line in missing[:_MISSING_NAMED])
        reason = f"{reason}; missing: {'; '.join(map(quote, words))}"
    return Dimension(value=value, reason=f"{reason}.")


def features_of_accuracy(case: ScoringCase) -> Features:
    """Return how far the lines support the steps, and how likely its questions are the page's.

    Support enters by its root: it is measured by words, and a source seldom says a step in just the
    words of the step.
    """
    supports = []
    for grounded in case.explicit_steps:
        support = grounded.support if grounded.claimed else _UNCLAIMED * grounded.support
        commands = grounded.step.commands
        quoted = sum(case.evidence.quotes(command) for command in commands)
        supports.append(support * (1 + quoted) / (1 + len(commands)))
    mean = sum(supports) / len(supports) if supports else 0.0
    return {"support": math.sqrt(mean), **_fact_log_odds(case.decided, FactKind.QUESTION)}


def accuracy(case: ScoringCase) -> Dimension:
    """Score the support of the steps by their lines, foreign commands and invented questions."""
    claimed = sum(grounded.claimed for grounded in case.explicit_steps)
    reason = f"The cited lines support {claimed} of {len(case.explicit_steps)} steps"
    unsupported = [grounded.step for grounded in case.explicit_steps if not grounded.is_grounded]
    if unsupported:
        reason = f"{reason}; no source says {quote(unsupported[0].text)}"
    value = case.weighings.of("accuracy").value(features_of_accuracy(case))
    return Dimension(value=value, reason=f"{reason}.")


def features_of_coherence(case: ScoringCase) -> Features:
    """Return how likely its conditions and arrows are."""
    return _fact_log_odds(case.decided, *_COHERENCE_KINDS)


def coherence(case: ScoringCase) -> Dimension:
    """Score the chances of its conditions and arrows, less a penalty for lint errors."""
    facts = [each for each in case.decided if each.fact.kind in _COHERENCE_KINDS]
    doubted = [each for each in facts if each.chance < _DOUBTED]
    worst = least_likely(facts, _COHERENCE_KINDS)
    if worst is None:
        reason = "No line of a page tells whether its steps belong together"
    elif doubted:
        reason = (
            f"The lines speak against {len(doubted)} of {len(facts)} conditions and arrows, most of"
            f" all that {in_words(worst.fact, case.drawn)}"
        )
    else:
        reason = f"The lines bear out all {len(facts)} conditions and arrows"
    errors = sum(finding.severity is Severity.ERROR for finding in case.findings)
    value = case.weighings.of("coherence").value(features_of_coherence(case))
    reason = f"{reason}; {errors} lint errors." if errors else f"{reason}."
    return Dimension(value=max(on_scale(0), value - 4 * _ERROR_COST * errors), reason=reason)


def features_of_conciseness(case: ScoringCase) -> Features:
    """Return the share of the steps that are worth their place, and features of their brevity.

    A workflow counts less if one run of it is too long, or if it has hardly begun.
    """
    needed = 0.0
    if case.explicit_steps:
        doubles = duplicate_steps(case.workflow)
        cost = sum(_step_cost(grounded, doubles) for grounded in case.explicit_steps)
        longest_run = max(case.depths.values(), default=0) + 1
        size = min(1.0, _MANY_STEPS / longest_run, len(case.workflow.steps) / _FEW_STEPS)
        needed = (1 - cost / len(case.explicit_steps)) * size
    return {"needed": needed, **brevity_features(case.drawn, case.drawn.roles)}


def conciseness(case: ScoringCase) -> Dimension:
    """Score the share of the steps that are needed and short, less something for their number."""
    steps = [grounded.step for grounded in case.explicit_steps]
    beside = [grounded.step for grounded in case.explicit_steps if not grounded.is_grounded]
    overlong = [step for step in steps if len(step.text.split()) > _LONGEST_STEP]
    faults = [
        f"{len(listed)} {what} ({quote(listed[0].text)})"
        for listed, what in (
            (duplicate_steps(case.workflow), "said twice"),
            (
                overlong,
                f"over {_LONGEST_STEP} words",
            ),
            (beside, "beside the point"),
        )
        if listed
    ]
    return Dimension(
        value=case.weighings.of("conciseness").value(features_of_conciseness(case)),
        reason=f"Of {len(steps)} steps: "
        f"{', '.join(faults) or 'none said twice, overlong or beside the point'}.",
    )


def duplicate_steps(workflow: Workflow) -> list[Step]:
    """Return the steps that repeat an earlier one of their kind, in reading order; ends may.

    Only steps that one run can meet count: two branches may ask for the same check.
    """
    steps = [step for step in workflow.steps if step.kind is not StepKind.TERMINAL]
    terms = {step.id: terms_of(step.text) for step in steps}
    counts = Counter(term for each in terms.values() for term in each)
    arrows = successors(workflow.transitions)
    behind = lru_cache(64)(lambda step_id: reachable(step_id, arrows))
    by_term: dict[str, list[Step]] = defaultdict(list)
    duplicates: list[Step] = []
    for step in steps:
        one = terms[step.id]
        # Texts that share so much share one of the rarest words of each.
        rarest = sorted(one, key=lambda term: (counts[term], term))
        rarest = rarest[: len(one) - int(_SAME_AGAIN * len(one)) + 1]
        others = {other.id: other for term in rarest for other in by_term[term]}
        for term in rarest:
            by_term[term].append(step)
        for other in others.values():
            least = _SAME_AGAIN if step.id in arrows.get(other.id, ()) else _SAME
            two = terms[other.id]
            is_same = step.kind is other.kind and len(one & two) / len(one | two) >= least
            if is_same and step.id in behind(other.id):
                duplicates.append(step)
                break
    return duplicates


def _step_cost(grounded: GroundedStep, doubles: list[Step]) -> float:
    """Return 0 for a step that is worth its place, up to 1 for one that is in the way."""
    if grounded.step in doubles:
        return 1.0
    excess = max(0, len(grounded.step.text.split()) - _LONGEST_STEP) / _LONGEST_STEP
    uselessness = max(0.0, 1 - grounded.support / GROUNDED)
    return max(_BESIDE_COST * uselessness, _LONG_COST * min(1.0, excess))


def _fact_log_odds(decided: Sequence[ScoredFact], *kinds: FactKind) -> dict[str, float]:
    """Return for each kind the mean log-odds, and the sum of the negative ones over the root.

    The root of their number makes one false fact of many count, and two count more.
    """
    features: dict[str, float] = {}
    for kind in kinds:
        odds = [
            log_odds(each.chance, nearest=_SUREST) for each in decided if each.fact.kind is kind
        ]
        against = math.fsum(min(0.0, each) for each in odds)
        features[f"{kind} facts"] = math.fsum(odds) / len(odds) if odds else _NO_FACT
        features[f"{kind} facts, against"] = against / math.sqrt(len(odds)) if odds else 0.0
    return features


CRITERIA: dict[str, Callable[[ScoringCase], Dimension]] = {
    "coverage": coverage,
    "accuracy": accuracy,
    "coherence": coherence,
    "conciseness": conciseness,
}
"""Criteria by dimension: all of the paper's five, whose mean is the score, but relevance, which is
the ticket's own. A further one is shown beside them.
"""

FEATURES: dict[str, Callable[[ScoringCase], Features]] = {
    "coverage": features_of_coverage,
    "accuracy": features_of_accuracy,
    "coherence": features_of_coherence,
    "conciseness": features_of_conciseness,
}
"""Features of the dimensions whose weights are fitted."""
