"""What a judge says about questions becomes chances of the facts of the candidates."""

from collections.abc import Sequence

from services.procedure.evidence.decide import Decided
from services.procedure.evidence.fact import Fact
from services.procedure.evidence.odds import chance_of, log_odds
from services.scorer.judges.panel import PanelVerdict
from services.scorer.judges.question import FactQuestion

BY_MODEL = "model"
"""Who decides what a judge was asked, beside the evidence of the lines."""
_WEIGHT = 2.0
"""What the judge's log-odds count, when those of the evidence count 1: it is asked only where these
are weak, and it reads what words alone do not tell."""
_SUREST = 0.02
"""Nobody counts as surer than this, either way."""


def told(
    questions: Sequence[FactQuestion], verdict: PanelVerdict, candidates: int
) -> list[dict[Fact, float]]:
    """For each candidate the chances of its facts by the judge alone.

    A fact that several questions are about is as likely as the least likely of their options.
    """
    found: list[dict[Fact, float]] = [{} for _ in range(candidates)]
    for place, chances in verdict.chances.items():
        for claim in questions[place].claims:
            facts = found[claim.candidate]
            facts[claim.fact] = min(facts.get(claim.fact, 1.0), chances[claim.option])
    return found


def decided_with(decided: Sequence[Decided], by_model: dict[Fact, float]) -> list[Decided]:
    """The facts, those that the judge decided weighed with what the evidence says."""
    return [
        each.with_chance(_together(each.chance, by_model[each.fact]), BY_MODEL)
        if each.fact in by_model
        else each
        for each in decided
    ]


def _together(evidence: float, judge: float) -> float:
    told = log_odds(evidence, nearest=_SUREST), log_odds(judge, nearest=_SUREST)
    return chance_of(told[0] + _WEIGHT * told[1])
