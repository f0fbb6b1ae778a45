"""Consensus of candidates about a fact: each is an independent reading of the same pages."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from services.runbook.agreement import match_steps
from services.runbook.evidence.fact import Fact, FactKind, ScoredFact
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.facts import without_negation

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
    return [
        [
            _with_vote(
                each, voter, [(o, same[place, n]) for n, o in enumerate(voters) if n != place]
            )
            for each in voter.scored_facts
        ]
        for place, voter in enumerate(voters)
    ]


def _with_vote(
    scored: ScoredFact, voter: Voter, others: Sequence[tuple[Voter, Mapping[str, str]]]
) -> ScoredFact:
    votes = [_vote(voter.comparable(scored.fact), other, same) for other, same in others]
    return scored.with_evidence(_STRENGTH * math.fsum(votes) / (len(votes) + _PRIOR_VOTES))


def _vote(fact: Fact, other: Voter, same: Mapping[str, str]) -> float:
    """Return 1 if the other candidate agrees, -1 if it disagrees, 0 if it lacks the step."""
    if fact.step not in same:
        return _MISSING_QUESTION if fact.kind is FactKind.QUESTION else 0.0
    there = fact._replace(step=same[fact.step], other=same.get(fact.other, ""))
    return 1.0 if fact.kind is FactKind.QUESTION or there in other.facts else -1.0
