"""A program against its text: lines that the text does not have, and programs without bounds."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from services.procedure.model import (
    Arm,
    Body,
    Choice,
    LineRange,
    Loop,
    Node,
    Procedure,
    bodies_of,
)

DEEPEST = 40
"""Bodies inside each other; whoever writes more has lost the thread."""
MOST_NODES = 2000
"""Of one procedure."""


class Checked(NamedTuple):
    """What of the procedures can be used, and what was wrong with the rest, in words."""

    procedures: tuple[Procedure, ...]
    complaints: tuple[str, ...]


def checked(procedures: Sequence[Procedure], text: str) -> Checked:
    """The procedures with lines of this text only; those without bounds or steps are left out."""
    last = text.count("\n") + 1
    complaints: list[str] = []
    kept = []
    for procedure in procedures:
        refusal = _refusal(procedure)
        if refusal:
            complaints.append(f"the procedure {procedure.title!r} {refusal}")
            continue
        foreign = [span for span in _spans(procedure) if span[1] > last]
        complaints += [f"lines {a}-{b} are not there: the page has {last}" for a, b in foreign]
        kept.append(_within(procedure, last) if foreign else procedure)
    return Checked(tuple(kept), tuple(dict.fromkeys(complaints)))


def _refusal(procedure: Procedure) -> str:
    bodies = [body for body in procedure.bodies.values() if body]
    if not bodies:
        return "tells nothing to do"
    depth, level = 0, bodies
    while level:
        depth += 1
        if depth > DEEPEST:
            return f"is nested deeper than {DEEPEST}"
        level = [below for body in level for node in body for below in bodies_of(node) if below]
    if sum(1 for _ in procedure.walk()) > MOST_NODES:
        return f"has more than {MOST_NODES} steps"
    return ""


def _spans(procedure: Procedure) -> Iterator[LineRange]:
    yield from procedure.lines
    for node in procedure.walk():
        yield from node.lines
        if isinstance(node, Choice):
            yield from (span for arm in node.arms for span in arm.lines)


def _within(procedure: Procedure, last: int) -> Procedure:
    return procedure.model_copy(
        update={
            "lines": _cut(procedure.lines, last),
            "body": _body(procedure.body, last),
            "verification": _body(procedure.verification, last),
            "escalation": _body(procedure.escalation, last),
            "parts": {name: _body(body, last) for name, body in procedure.parts.items()},
        }
    )


def _body(body: Body, last: int) -> Body:
    return tuple(_node(node, last) for node in body)


def _node(node: Node, last: int) -> Node:
    update: dict[str, object] = {"lines": _cut(node.lines, last)}
    if isinstance(node, Loop):
        update["body"] = _body(node.body, last)
    if isinstance(node, Choice):
        update["arms"] = tuple(_arm(arm, last) for arm in node.arms)
        if node.otherwise is not None:
            update["otherwise"] = _body(node.otherwise, last)
    return node.model_copy(update=update)


def _arm(arm: Arm, last: int) -> Arm:
    return arm.model_copy(update={"lines": _cut(arm.lines, last), "body": _body(arm.body, last)})


def _cut(spans: tuple[LineRange, ...], last: int) -> tuple[LineRange, ...]:
    return tuple((first, min(end, last)) for first, end in spans if first <= last)
