"""What the other candidates say of a fact: each is a reading of the same pages by itself."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from services.procedure.agreement import matched
from services.procedure.evidence.decide import Decided
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.procedure.facts import polar

_PRIOR = 0.5
"""Votes that are undecided beforehand: one voice alone does not settle a fact."""
_STRENGTH = 1.0
"""Log-odds that a unanimous vote is worth; 1 to 3 do the same on the even half of recorded samples,
0 costs six points of guards."""
_MISSING_QUESTION = -0.3
"""A question that another candidate does not ask may be one that it asks elsewhere."""


@dataclass(frozen=True)
class Voice:
    """One candidate with its facts."""

    drawn: Drawn
    decided: Sequence[Decided]

    @cached_property
    def facts(self) -> frozenset[Fact]:
        """Its facts as they are compared: answers to questions without their negation."""
        return frozenset(self.comparable(each.fact) for each in self.decided)

    def comparable(self, fact: Fact) -> Fact:
        """The fact with its answer told of the question without negation."""
        asked = fact.other if fact.kind is FactKind.GUARD else fact.step
        question = self.drawn.workflow.by_id[asked].text
        return fact._replace(answer=polar(fact.answer, question) if fact.answer else "")


def with_votes(voices: Sequence[Voice]) -> list[list[Decided]]:
    """The facts of each candidate after all others have voted on them."""
    same = {
        (one, other): matched(voices[one].drawn.workflow.steps, voices[other].drawn.workflow.steps)
        for one in range(len(voices))
        for other in range(len(voices))
        if one != other
    }
    return [
        [
            _voted(each, voice, [(o, same[place, n]) for n, o in enumerate(voices) if n != place])
            for each in voice.decided
        ]
        for place, voice in enumerate(voices)
    ]


def _voted(
    decided: Decided, voice: Voice, others: Sequence[tuple[Voice, Mapping[str, str]]]
) -> Decided:
    votes = [_vote(voice.comparable(decided.fact), other, same) for other, same in others]
    return decided.moved(_STRENGTH * math.fsum(votes) / (len(votes) + _PRIOR))


def _vote(fact: Fact, other: Voice, same: Mapping[str, str]) -> float:
    """1 where the other says it too, -1 where it says otherwise, 0 where it lacks the step."""
    if fact.step not in same:
        return _MISSING_QUESTION if fact.kind is FactKind.QUESTION else 0.0
    there = fact._replace(step=same[fact.step], other=same.get(fact.other, ""))
    return 1.0 if fact.kind is FactKind.QUESTION or there in other.facts else -1.0
