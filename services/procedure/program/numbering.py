"""Ids for all nodes and arms, so that jumps, doubts and edits can name them."""

from collections.abc import Iterator
from itertools import count

from services.procedure.model import Arm, Body, Node, Procedure, Reading
from services.procedure.program.changing import with_bodies, with_changed


def numbered(reading: Reading) -> Reading:
    """Every node and arm with an id of its own in its procedure; one that is given stays.

    Of two with the same id the first keeps it, and none is called like a body, since jumps name
    both.
    """
    procedures = tuple(_Numbering(each).done() for each in reading.procedures)
    return reading.model_copy(update={"procedures": procedures})


class _Numbering:
    def __init__(self, procedure: Procedure) -> None:
        self._procedure = procedure
        self._reserved = set(procedure.bodies)
        self._given = {each.id for each in sourced(procedure)}
        self._taken: set[str] = set()
        self._fresh = (f"n{number}" for number in count(1))

    def done(self) -> Procedure:
        return with_changed(self._procedure, self._body)

    def _body(self, body: Body) -> Body:
        return tuple(self._node(node) for node in body)

    def _node(self, node: Node) -> Node:
        named = node.model_copy(update={"id": self._id(node.id)})
        return with_bodies(named, self._body, self._arm)

    def _arm(self, arm: Arm) -> Arm:
        return arm.model_copy(update={"id": self._id(arm.id)})

    def _id(self, given: str) -> str:
        is_free = given and given not in self._taken and given not in self._reserved
        id_ = given if is_free else self._new()
        self._taken.add(id_)
        return id_

    def _new(self) -> str:
        unusable = self._given | self._taken | self._reserved
        return next(id_ for id_ in self._fresh if id_ not in unusable)


def sourced(procedure: Procedure) -> Iterator[Node | Arm]:
    """All that has an id and lines: nodes and arms, in the order of the text."""
    for node in procedure.walk():
        yield node
        yield from getattr(node, "arms", ())
