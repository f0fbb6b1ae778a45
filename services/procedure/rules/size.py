"""How much of a page is read: nobody walks through more, and nothing takes it."""

from collections.abc import Iterator, Sequence

from services.procedure.model import Body, Choice, Node, questions, walk

MOST_NODES = 1_600
"""Nodes and guards of a procedure; of longer pages the rest is left to be looked up."""


def fitting(bodies: Sequence[Sequence[Node]]) -> list[Body]:
    """The bodies, cut where together they are too large."""
    left = MOST_NODES
    found: list[Body] = []
    for body in bodies:
        kept: list[Node] = []
        for node in body:
            taken, size = _within(node, left)
            left -= size
            if left < 0:
                break
            kept.append(taken)
        found.append(tuple(kept))
    return found


def _within(node: Node, left: int) -> tuple[Node, int]:
    """The node, a choice with the first of its arms that fit, and its size."""
    size = _size(node)
    if size <= left or not isinstance(node, Choice):
        return node, size
    arms, used = [], 1
    for arm in node.arms:
        used += sum(_size(each) for each in arm.body) + len(list(questions(arm.guard)))
        if used > left:
            break
        arms.append(arm)
    if not arms:
        return node, size
    cut = node.model_copy(update={"arms": tuple(arms)})
    return cut, _size(cut)


def _size(node: Node) -> int:
    return sum(1 + sum(1 for _ in _asked(each)) for each in walk((node,)))


def _asked(node: Node) -> Iterator[object]:
    for arm in getattr(node, "arms", ()):
        yield from questions(arm.guard)
