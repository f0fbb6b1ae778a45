"""Ids for the nodes and arms of programs, so that doubts, jumps and edits can name them."""

from collections.abc import Iterator, Sequence

from services.procedure.model import Arm, Body, Choice, Loop, Node, Procedure


def numbered(procedures: Sequence[Procedure]) -> tuple[Procedure, ...]:
    """Every node and arm with an id that is unique in its procedure; ids that are there stay."""
    return tuple(_numbered(procedure) for procedure in procedures)


def _numbered(procedure: Procedure) -> Procedure:
    taken = set(_ids(procedure))
    free = (id_ for id_ in (f"n{number}" for number in _count()) if id_ not in taken)
    return procedure.model_copy(
        update={
            "body": _body(procedure.body, free),
            "verification": _body(procedure.verification, free),
            "escalation": _body(procedure.escalation, free),
            "parts": {name: _body(body, free) for name, body in procedure.parts.items()},
        }
    )


def _count() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def _ids(procedure: Procedure) -> Iterator[str]:
    for node in procedure.walk():
        yield node.id
        if isinstance(node, Choice):
            yield from (arm.id for arm in node.arms)


def _body(body: Body, free: Iterator[str]) -> Body:
    return tuple(_node(node, free) for node in body)


def _node(node: Node, free: Iterator[str]) -> Node:
    update: dict[str, object] = {"id": node.id or next(free)}
    if isinstance(node, Loop):
        update["body"] = _body(node.body, free)
    if isinstance(node, Choice):
        update["arms"] = tuple(_arm(arm, free) for arm in node.arms)
        if node.otherwise is not None:
            update["otherwise"] = _body(node.otherwise, free)
    return node.model_copy(update=update)


def _arm(arm: Arm, free: Iterator[str]) -> Arm:
    return arm.model_copy(update={"id": arm.id or next(free), "body": _body(arm.body, free)})
