"""Claims of a workflow about its page, one at a time, and the chance of each.

The forests judge by the evidence of the lines. They were fitted on drawn pages: facts of the
drawings against facts of the same drawings with one mistake (`flowxpert bench fit-judge`). Then the
other candidates vote: each is an independent reading of the same pages.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from pydantic import Field

from services.kit.fits.fitted import FittedFile
from services.kit.fits.trees import Forest
from services.runbook.agreement import match_steps
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.facts import without_negation
from services.workflow.plain import plain

Features = Mapping[str, float]


class FactKind(StrEnum):
    """The kind of a claim."""

    GUARD = "guard"
    """A step is done only on this answer to this question."""
    FREE = "free"
    """A step is done whatever is answered."""
    ARROW = "arrow"
    """One step follows another; from a question, on this answer."""
    QUESTION = "question"
    """The page asks this."""
    END = "end"
    """The work ends with this step."""


class Fact(NamedTuple):
    """One claim, with ids of the workflow's steps."""

    kind: FactKind
    step: str
    """The step of the claim; for an arrow, its start."""
    other: str = ""
    """The question of a guard, or the end of an arrow."""
    answer: str = ""
    """The answer in lower case."""


_MOST_CERTAIN = 0.98
"""The highest chance by evidence alone, before other judges are heard."""
BY_EVIDENCE = "lines"
"""The judge without a model: the evidence of the lines."""


class Forests(FittedFile):
    """The fitted forests, by the kind of fact."""

    SHIPPED: ClassVar = Path(__file__).with_name("forests.json")
    INDENT: ClassVar = None

    forests: dict[FactKind, Forest]
    provenance: str = ""
    """The material and the command of the fit."""
    figures: dict[str, float] = Field(default_factory=dict)
    """The AUC of each kind of fact on held-out ids."""


@dataclass(frozen=True)
class ScoredFact:
    """A fact with the chance that it is right."""

    fact: Fact
    chance: float
    by: str = BY_EVIDENCE

    def with_evidence(self, evidence: float) -> "ScoredFact":
        """Return the same fact with that much more evidence, in log-odds."""
        odds = log_odds(self.chance, nearest=1 - _MOST_CERTAIN) + evidence
        return replace(self, chance=chance_of(odds))

    def with_chance(self, chance: float, by: str) -> "ScoredFact":
        """Return the same fact with a chance from another judge."""
        return replace(self, chance=chance, by=by)


def score_facts(facts: Iterable[tuple[Fact, Features]], forests: Forests) -> list[ScoredFact]:
    """Return every fact of a workflow with its chance, by its features."""
    return [
        ScoredFact(fact, forests.forests[fact.kind].chance(features))
        for fact, features in facts
        if fact.kind in forests.forests
    ]


def least_likely(scored: Iterable[ScoredFact], kinds: Sequence[FactKind]) -> ScoredFact | None:
    """Return the fact of these kinds that counts most against the workflow."""
    return min((d for d in scored if d.fact.kind in kinds), key=lambda d: d.chance, default=None)


def in_words(fact: Fact, grounded: GroundedWorkflow) -> str:
    """Describe the claim for a person."""
    texts: Mapping[str, str] = {s.id: plain(s.text) for s in grounded.workflow.steps}
    step, other = texts[fact.step], texts.get(fact.other, "")
    match fact.kind:
        case FactKind.GUARD:
            return f"“{step}” only if “{other}” is answered {fact.answer or 'so'}"
        case FactKind.FREE:
            return f"“{step}” whatever was answered"
        case FactKind.ARROW:
            on = f" on {fact.answer}" if fact.answer else ""
            return f"after “{step}”{on} comes “{other}”"
        case FactKind.QUESTION:
            return f"“{step}” is asked"
        case FactKind.END:
            return f"the work ends with “{step}”"


def log_odds(chance: float, *, nearest: float) -> float:
    """Return the log-odds of a chance, kept at least `nearest` away from 0 and 1."""
    bounded = min(1 - nearest, max(nearest, chance))
    return math.log(bounded / (1 - bounded))


def chance_of(odds: float) -> float:
    """Return the chance (0–1) of log-odds."""
    return 1 / (1 + math.exp(-odds))


_PRIOR_VOTES = 0.5
"""Undecided votes that are added, so that one candidate alone does not settle a fact."""
_STRENGTH = 1.0
"""Log-odds of a unanimous vote.

1 to 3 do the same on the even half of recorded samples; 0 costs six points of guards.
"""
_MISSING_QUESTION = -0.3
"""The vote of a candidate without the question, which it may ask elsewhere."""


@dataclass(frozen=True)
class Voter:
    """A candidate that votes, with its facts."""

    grounded: GroundedWorkflow
    scored_facts: Sequence[ScoredFact]

    @cached_property
    def facts(self) -> frozenset[Fact]:
        """The facts as they are compared: answers to questions without their negation."""
        return frozenset(self.comparable(each.fact) for each in self.scored_facts)

    def comparable(self, fact: Fact) -> Fact:
        """Return the fact with the answer to its question without negation."""
        decision = fact.other if fact.kind is FactKind.GUARD else fact.step
        question = self.grounded.workflow.by_id[decision].text
        return fact._replace(answer=without_negation(fact.answer, question) if fact.answer else "")


def with_votes(voters: Sequence[Voter]) -> list[list[ScoredFact]]:
    """Return the facts of each candidate after the votes of all others."""
    same = {
        (one, other): match_steps(
            voters[one].grounded.workflow.steps, voters[other].grounded.workflow.steps
        )
        for one in range(len(voters))
        for other in range(len(voters))
        if one != other
    }
    voted: list[list[ScoredFact]] = []
    for place, voter in enumerate(voters):
        others = [(other, same[place, n]) for n, other in enumerate(voters) if n != place]
        facts: list[ScoredFact] = []
        for each in voter.scored_facts:
            fact = voter.comparable(each.fact)
            votes = [_vote(fact, other, steps) for other, steps in others]
            evidence = _STRENGTH * math.fsum(votes) / (len(votes) + _PRIOR_VOTES)
            facts.append(each.with_evidence(evidence))
        voted.append(facts)
    return voted


def _vote(fact: Fact, other: Voter, same: Mapping[str, str]) -> float:
    """Return 1 if the other candidate agrees, -1 if it disagrees, 0 if it lacks the step."""
    if fact.step not in same:
        return _MISSING_QUESTION if fact.kind is FactKind.QUESTION else 0.0
    there = fact._replace(step=same[fact.step], other=same.get(fact.other, ""))
    return 1.0 if fact.kind is FactKind.QUESTION or there in other.facts else -1.0
