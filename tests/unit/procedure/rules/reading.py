"""What tests of the rules ask of a page."""

from services.procedure.model import (
    Choice,
    Do,
    Guard,
    Node,
    Not,
    Procedure,
    Reading,
    State,
    questions,
)
from services.procedure.rules import read_by_rules


def page(*lines: str) -> str:
    """The lines under a title."""
    return "\n".join(["# Pump does not turn", "", *lines])


def read(*lines: str) -> Procedure:
    """The one procedure of a page of these lines."""
    (procedure,) = read_by_rules(page(*lines)).procedures
    return procedure


def reading(*lines: str) -> Reading:
    return read_by_rules(page(*lines))


def outline(body: tuple[Node, ...]) -> list[object]:
    """Steps as their text, choices as `{question: steps}`, with `else` where it is told."""
    return [_outline(node) for node in body]


def _asked(guard: Guard | None) -> str:
    """What is asked, with `No` where that leads to the steps."""
    text = " ".join(each.text for each in questions(guard))
    return f"{text} No" if isinstance(guard, Not) and isinstance(guard.guard, State) else text


def _outline(node: Node) -> object:
    if isinstance(node, Do):
        return node.text
    if isinstance(node, Choice):
        told: dict[str, object] = {_asked(arm.guard): outline(arm.body) for arm in node.arms}
        if node.otherwise is not None:
            told["else"] = outline(node.otherwise)
        return told
    return type(node).__name__.lower()
