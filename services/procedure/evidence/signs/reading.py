"""What another reading of the page says of the same lines.

Agreeing with the reading that it was made of is no evidence for a candidate: there it says nothing.
"""

from services.language.answers import compared_answer
from services.procedure.evidence.drawn import Drawn
from services.workflow.model import Step


def on_guard(
    drawn: Drawn, other: Drawn | None, question: Step, step: Step, answer: str
) -> dict[str, float]:
    """Whether the other reading does the step on this answer, on another, or regardless."""
    if other is None:
        return {}
    same = other.at(drawn.lines[step.id], other.actions)
    if not same:
        return {"reading has step": 0.0}
    found = {"reading has step": 1.0}
    said = _answers(drawn, other, question, same)
    if said:
        wanted = compared_answer(question.text, answer)
        return found | {"reading agrees": 1.0 if said[0] == wanted else -1.0}
    asked = other.at(drawn.lines[question.id], other.decisions)
    return found | {
        "reading agrees": 0.0,
        "reading asks": float(bool(asked)),
        "reading does it always": float(all(not other.guards.get(s.id) for s in same)),
    }


def _answers(drawn: Drawn, other: Drawn, question: Step, same: list[Step]) -> list[bool | str]:
    """The answers to the same question on which the other reading does the step."""
    by_id = other.workflow.by_id
    return [
        compared_answer(by_id[fact.decision].text, fact.answer)
        for step in same
        for fact in sorted(other.guards.get(step.id, ()))
        if other.lines[fact.decision] & drawn.lines[question.id]
    ]


def on_free(drawn: Drawn, other: Drawn | None, step: Step) -> dict[str, float]:
    """Whether the other reading does the step under conditions only."""
    if other is None:
        return {}
    same = other.at(drawn.lines[step.id], other.actions)
    guarded = bool(same) and all(other.guards.get(each.id) for each in same)
    return {"reading has step": float(bool(same)), "reading guards it": float(guarded)}


def on_arrow(drawn: Drawn, other: Drawn | None, source: Step, target: Step) -> dict[str, float]:
    """Whether the other reading goes from the one to the other at once."""
    if other is None:
        return {}
    steps = other.workflow.steps
    begins = other.at(drawn.lines[source.id], steps)
    ends = {step.id for step in other.at(drawn.lines[target.id], steps)}
    follows = any(e.target in ends for step in begins for e in other.workflow.exits(step.id))
    return {
        "reading has start": float(bool(begins)),
        "reading has end": float(bool(ends)),
        "reading follows": float(follows),
    }


def on_question(drawn: Drawn, other: Drawn | None, question: Step) -> dict[str, float]:
    """Whether the other reading asks at the same lines."""
    if other is None:
        return {}
    return {"reading asks": float(bool(other.at(drawn.lines[question.id], other.decisions)))}
