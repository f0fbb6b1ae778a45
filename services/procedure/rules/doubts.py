"""What the rules are not sure of, as questions to a person."""

from collections.abc import Iterator

from services.procedure.model import (
    Answer,
    Choice,
    Do,
    Doubt,
    DoubtKind,
    Mode,
    Node,
    Procedure,
    questions,
)
from services.procedure.rules.prose import is_gate

SURE_FROM = 0.6
MOST_DOUBTS = 60
"""Of one procedure."""


def is_doubtful(node: Node) -> bool:
    """Whether the node needs an id, so that a doubt can name it."""
    return node.confidence < SURE_FROM


def doubts_of(procedure: Procedure, place: int) -> list[Doubt]:
    """A doubt for each node that is not sure, in the order of the text."""
    doubtful = [node for node in procedure.walk() if node.id and is_doubtful(node)]
    return [_doubt(node, place) for node in doubtful[:MOST_DOUBTS]]


def _doubt(node: Node, place: int) -> Doubt:
    kind, question, answers = _asked(node)
    return Doubt(
        id=f"{place}-{node.id}",
        kind=kind,
        node=node.id,
        procedure=place,
        question=question,
        lines=node.lines,
        answers=answers,
    )


def _asked(node: Node) -> tuple[DoubtKind, str, tuple[Answer, ...]]:
    if isinstance(node, Choice) and node.mode is Mode.IN_ORDER:
        everything = tuple(each for arm in node.arms for each in arm.body)
        answers = (Answer(text="One is enough"), Answer(text="All are done", replace=everything))
        text = "The page gives these remedies in no order: is one enough, or are all to be done?"
        return DoubtKind.CONDITION, text, answers
    if isinstance(node, Choice):
        asked = next(_questions(node), "this")
        always = Answer(text="Go on all the same", replace=())
        ends = "It ends there" if is_gate(node) else "As it was read"
        text = f"The page leaves open what follows when the answer is no: {asked}"
        return DoubtKind.EXIT, text, (Answer(text=ends), always)
    said = node.text if isinstance(node, Do) else ""
    text = f"Is this done whenever it is reached, or only as it is worded? {said}"
    return DoubtKind.CONDITION, text, (Answer(text="As it is worded"),)


def _questions(choice: Choice) -> Iterator[str]:
    for arm in choice.arms:
        yield from (each.text for each in questions(arm.guard))
