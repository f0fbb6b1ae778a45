"""What a person answers to a doubt, put into the reading."""

from services.kit.errors import InvalidInputError, NotFoundError
from services.procedure.model import Arm, Body, Doubt, Node, Procedure, Reading
from services.procedure.program.changing import is_empty, with_bodies, with_changed
from services.procedure.program.numbering import numbered, sourced


class DoubtNotFoundError(NotFoundError):
    """The reading has no doubt of this id; it may have been answered meanwhile."""


class UnknownAnswerError(InvalidInputError):
    """The doubt does not offer this answer, or what it would replace is not in the reading."""


def answered(reading: Reading, doubt_id: str, answer_index: int) -> Reading:
    """The reading with one doubt settled by one of its answers, counted from 0.

    Doubts about what the answer took out go with it.

    Raises:
        DoubtNotFoundError: No such doubt.
        UnknownAnswerError: No such answer, or nothing it could replace.
    """
    doubt = next((each for each in reading.doubts if each.id == doubt_id), None)
    if doubt is None:
        raise DoubtNotFoundError(f"the reading has no doubt {doubt_id!r}: read it again")
    if not 0 <= answer_index < len(doubt.answers):
        raise UnknownAnswerError(
            f"expected an answer from 0 to {len(doubt.answers) - 1}, got {answer_index}"
        )
    left = tuple(each for each in reading.doubts if each.id != doubt_id)
    settled = reading.model_copy(update={"doubts": left})
    replacement = doubt.answers[answer_index].replace
    return settled if replacement is None else _with_place(settled, doubt, replacement)


def without_doubts_about_nothing(reading: Reading) -> Reading:
    """The reading without doubts about procedures and nodes that it does not have."""
    ids = [{each.id for each in sourced(procedure)} for procedure in reading.procedures]
    kept = tuple(
        doubt
        for doubt in reading.doubts
        if 0 <= doubt.procedure < len(ids)
        and (not doubt.node or doubt.node in ids[doubt.procedure])
    )
    return reading.model_copy(update={"doubts": kept})


def _with_place(reading: Reading, doubt: Doubt, replacement: Body) -> Reading:
    procedures = list(reading.procedures)
    if not 0 <= doubt.procedure < len(procedures):
        raise UnknownAnswerError(f"the reading has no procedure {doubt.procedure}")
    change = _Replacing(doubt.node, replacement)
    procedures[doubt.procedure] = change.of(procedures[doubt.procedure])
    if not change.done:
        raise UnknownAnswerError(f"the reading has nothing with the id {doubt.node!r}")
    changed = reading.model_copy(update={"procedures": tuple(procedures)})
    return without_doubts_about_nothing(numbered(changed))


class _Replacing:
    """Puts a body into the place of a node, or of what an arm leads to."""

    def __init__(self, node_id: str, replacement: Body) -> None:
        self._id = node_id
        self._replacement = replacement
        self.done = False

    def of(self, procedure: Procedure) -> Procedure:
        return with_changed(procedure, self._body)

    def _body(self, body: Body) -> Body:
        return tuple(new for node in body for new in self._node(node))

    def _node(self, node: Node) -> Body:
        if not self._is_it(node):
            left = with_bodies(node, self._body, self._arm)
            return () if is_empty(left) else (left,)
        self.done = True
        return self._replacement

    def _arm(self, arm: Arm) -> Arm:
        if not self._is_it(arm):
            return arm
        self.done = True
        return arm.model_copy(update={"body": self._replacement})

    def _is_it(self, found: Node | Arm) -> bool:
        return not self.done and bool(self._id) and found.id == self._id
