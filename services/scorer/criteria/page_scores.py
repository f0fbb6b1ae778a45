"""What of a workflow's scores hangs on its pages alone."""

from collections.abc import Mapping
from typing import Self

from services.contracts.scorer import Dimension
from services.grounding.evidence import terms_of
from services.grounding.grounder import GROUNDED
from services.kit.value import Value
from services.procedure.evidence.conditions import Condition
from services.procedure.evidence.decide import BY_EVIDENCE
from services.scorer.criteria.case import ScoringCase


class Rest(Value):
    """What of a workflow rests on one document."""

    steps: int
    """That it says."""
    support: float
    """Of all steps that it says best, each 0–1."""


class PageScores(Value):
    """Decided once: a ticket adds its relevance and the chance of the page."""

    page: str
    """The one that most steps cite; empty where no page is known."""
    dimensions: dict[str, Dimension]
    """By name, all but relevance."""
    told: int
    """Steps that a page should say."""
    rests: dict[str, Rest]
    """By document."""
    said: frozenset[str]
    """The stemmed words of all steps and commands."""
    is_page: bool = False
    """Whether the workflow is the page itself, as it is."""
    conditions: tuple[Condition, ...] = ()
    """How likely each is right; what a person approved or a model judged is as they say."""

    @classmethod
    def of(cls, case: ScoringCase, dimensions: Mapping[str, Dimension]) -> Self:
        """From a case and what its criteria say."""
        return cls(
            page=case.drawn.page,
            dimensions=dict(dimensions),
            told=len(case.told),
            rests=_rests(case),
            said=frozenset(
                term
                for step in case.workflow.steps
                for text in (step.text, *step.commands)
                for term in terms_of(text)
            ),
            conditions=_settled(case),
        )


def _settled(case: ScoringCase) -> tuple[Condition, ...]:
    heard = {each.fact: each.chance for each in case.decided if each.by != BY_EVIDENCE}
    return tuple(
        Condition.of(each.fact, heard.get(each.fact, each.chance)) for each in case.conditions
    )


def _rests(case: ScoringCase) -> dict[str, Rest]:
    found: dict[str, Rest] = {}
    for each in case.told:
        if each.unit:
            known = found.get(each.unit.document_id, Rest(steps=0, support=0.0))
            found[each.unit.document_id] = Rest(
                steps=known.steps + each.is_grounded,
                support=known.support + min(1.0, each.support / GROUNDED),
            )
    return found
