"""Application of edit operations to a procedure, each on the result of the one before."""

import re
from collections.abc import Sequence
from itertools import count

from services.runbook.checking.check import UnusableReadingError, refuse_large
from services.runbook.editing.errors import (
    IdTakenError,
    IntoItselfError,
    JumpToNothingError,
    NothingChangedError,
    NotTogetherError,
    UnknownPlaceError,
    UnusableOperationError,
    WrongKindError,
)
from services.runbook.editing.guard_change import change_guard
from services.runbook.editing.operations import (
    ChangeGuard,
    Delete,
    How,
    Insert,
    Move,
    Operation,
    Replace,
    SetOtherwise,
    SetParameter,
)
from services.runbook.editing.outline import Location, Outline
from services.runbook.editing.parameters import with_parameter
from services.runbook.model import (
    OTHERWISE,
    START,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Jump,
    Loop,
    Mode,
    Node,
    Procedure,
    Reader,
    Reading,
    Remark,
    bodies_of,
)
from services.runbook.program import with_ids

_NODE_ID = re.compile(r"n(\d+)")
_PLACEHOLDER_ID = "\x00moved"
"""The id of the placeholder for a node while it is moved; no reader writes it."""
_KIND_FIELDS: dict[type, tuple[str, frozenset[str]]] = {
    Do: ("a step", frozenset({"text", "commands", "expected", "core", "notes", "lines"})),
    End: ("an end", frozenset({"text", "commands", "end", "notes", "lines"})),
    Remark: ("a note", frozenset({"text", "lines"})),
    Jump: ("a jump", frozenset({"goto", "lines"})),
    Choice: ("a choice", frozenset({"text", "mode", "notes", "lines"})),
    Loop: ("a loop", frozenset({"notes", "lines"})),
    Arm: ("a condition, which the operation `guard` changes", frozenset({"lines"})),
}
"""The name of each kind, and the fields that `replace` may set."""


def apply(procedure: Procedure, operations: Sequence[Operation]) -> Procedure:
    """Return the procedure after all operations, in their order.

    Ids and lines of parts that no operation names stay. New nodes get ids that it never had.

    Raises:
        UnusableOperationError: One cannot be done; the refusal says which, and its class why.
    """
    return stages(procedure, operations)[-1]


def stages(procedure: Procedure, operations: Sequence[Operation]) -> list[Procedure]:
    """Return the procedure with ids on all nodes, and the version after each operation.

    Raises:
        UnusableOperationError: See `apply`.
    """
    versions = [with_ids(procedure)]
    editor = _Editor(versions[0])
    for place, operation in enumerate(operations):
        try:
            versions.append(editor.apply(versions[-1], operation))
        except UnusableOperationError as error:
            raise error.of(place, operation.op) from error
    return versions


class _Editor:
    """Operations on one procedure, with the ids that were ever used."""

    def __init__(self, procedure: Procedure) -> None:
        self._used_ids = {each.id for each in procedure.sourced()}
        highest = max(
            (int(m[1]) for id_ in self._used_ids if (m := _NODE_ID.fullmatch(id_))), default=0
        )
        self._fresh_ids = (f"n{number}" for number in count(highest + 1))

    def apply(self, procedure: Procedure, operation: Operation) -> Procedure:
        """Return the procedure after one operation."""
        outline = Outline(procedure)
        jumps_to: str | None = None
        match operation:
            case Insert():
                now = self._insert(outline, operation)
            case Delete():
                now, jumps_to = _delete(outline, operation), operation.jumps_to
            case Replace():
                now = _replace(outline, operation)
            case Move():
                now, jumps_to = _move(outline, operation), operation.jumps_to
            case ChangeGuard():
                now = self._put_under_guard(outline, operation)
            case SetOtherwise():
                now, jumps_to = self._set_otherwise(outline, operation), operation.jumps_to
            case SetParameter():
                now = with_parameter(outline, operation)
        now = _redirect_jumps(outline, now, jumps_to)
        if now == procedure:
            raise NothingChangedError("it leaves everything as it is")
        _refuse_large(now)
        return now

    def _insert(self, outline: Outline, operation: Insert) -> Procedure:
        if operation.arm is not None:
            body = self._adopt(outline, operation.arm.body)
            id_ = self._claim_id(operation.arm.id, set(outline.locations))
            arm = operation.arm.model_copy(update={"id": id_, "body": body})
            return _insert_arm(outline, operation, arm)
        if operation.node is None:
            raise WrongKindError("expected a node or an arm")
        (node,) = self._adopt(outline, (operation.node,))
        name, at = _insertion_point(outline, operation)
        return outline.procedure.map(
            body=lambda each, body: (*body[:at], node, *body[at:]) if each == name else body
        )

    def _put_under_guard(self, outline: Outline, operation: ChangeGuard) -> Procedure:
        how = operation.how
        if how is None:
            is_arm = len(operation.nodes) == 1 and isinstance(
                outline[operation.nodes[0]].thing, Arm
            )
            how = How.CHANGE if is_arm else How.PUT
        if how is not How.PUT:
            return change_guard(outline, operation, how)
        locations = [outline.node(ref) for ref in dict.fromkeys(operation.nodes)]
        locations.sort(key=lambda each: each.at)
        name, first, last = locations[0].body, locations[0].at, locations[-1].at
        is_run = [each.at for each in locations] == list(range(first, last + 1))
        if any(each.body != name for each in locations) or not is_run:
            raise NotTogetherError(
                f"{', '.join(each.thing.id for each in locations)} do not follow one another in "
                "one body: put each under the condition, or move them together first"
            )
        lines, run = operation.lines or (), outline.bodies[name]
        arm = Arm(id=self._new_id(), guard=operation.when, lines=lines)
        arm = arm.model_copy(update={"body": run[first : last + 1]})
        otherwise = None
        if operation.otherwise is not None:
            otherwise = self._adopt(outline, operation.otherwise)
        choice = Choice(id=self._new_id(), mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines)
        choice = choice.model_copy(update={"otherwise": otherwise})
        wrapped = (*run[:first], choice, *run[last + 1 :])
        return outline.procedure.map(body=lambda each, body: wrapped if each == name else body)

    def _set_otherwise(self, outline: Outline, operation: SetOtherwise) -> Procedure:
        location = outline[operation.node]
        choice = outline.choice_of(location) if isinstance(location.thing, Arm) else location.thing
        if not isinstance(choice, Choice):
            raise WrongKindError(
                f"{choice.id} is {_KIND_FIELDS[type(choice)][0]}: only a choice has another answer"
            )
        body: Body | None = operation.steps or ()
        lines = operation.lines or ()
        if operation.end is not None:
            body = (End(kind=operation.end, text=operation.text, lines=lines),)
        elif operation.goto is not None:
            body = (Jump(target=operation.goto, lines=lines),)
        new = None if operation.unsaid else self._adopt(outline, body or ())
        return outline.replace(choice.id, choice.model_copy(update={"otherwise": new}))

    def _adopt(self, outline: Outline, body: Body) -> Body:
        """Return a new body, with an unused id for each node and resolved jump targets.

        Raises:
            IdTakenError: It brings an id that is in use.
        """
        new = Procedure(title="", body=body)
        _refuse_large(new)
        taken = {*outline.locations, *outline.bodies}

        def adopted(node: Node) -> Body:
            update = {"id": self._claim_id(node.id, taken)}
            if isinstance(node, Jump):
                update["target"] = outline.target(node.target)
            return (node.model_copy(update=update),)

        return new.map(
            node=adopted,
            arm=lambda arm: arm.model_copy(update={"id": self._claim_id(arm.id, taken)}),
            order="down",
        ).body

    def _claim_id(self, requested: str, taken: set[str]) -> str:
        if requested in taken:
            raise IdTakenError(f"something else has the id {requested[:80]!r}: leave it out")
        if not requested.isprintable() or " " in requested:
            raise UnusableOperationError(
                f"expected an id without spaces and invisible characters, got {requested[:80]!r}"
            )
        id_ = requested or self._new_id()
        self._used_ids.add(id_)
        taken.add(id_)
        return id_

    def _new_id(self) -> str:
        id_ = next(each for each in self._fresh_ids if each not in self._used_ids)
        self._used_ids.add(id_)
        return id_


def _delete(outline: Outline, operation: Delete) -> Procedure:
    location = outline[operation.node]
    if not isinstance(location.thing, Arm):
        below = tuple(node for body in bodies_of(location.thing) for node in body)
        return outline.replace(location.thing.id, below if operation.keep_below else ())
    choice = outline.choice_of(location)
    if len(choice.arms) > 1:
        if operation.keep_below:
            raise WrongKindError(
                f"{location.thing.id} is one of several answers: `guard` with `remove` has its "
                "steps done always, `move` puts them elsewhere"
            )
        return _with_arms(
            outline, choice, tuple(a for a in choice.arms if a.id != location.thing.id)
        )
    if choice.otherwise and not operation.keep_below:
        raise WrongKindError(
            f"{location.thing.id} is the only condition of the choice {choice.id}, which says what "
            f"is done otherwise: delete {choice.id}, or move {choice.id}{OTHERWISE} elsewhere first"
        )
    return _delete(outline, operation.model_copy(update={"node": choice.id}))


def _replace(outline: Outline, operation: Replace) -> Procedure:
    thing = outline[operation.node].thing
    requested = operation.model_dump(exclude={"op", "node"}, exclude_none=True, by_alias=False)
    name, allowed = _KIND_FIELDS[type(thing)]
    wrong = sorted(set(requested) - allowed)
    if wrong:
        raise WrongKindError(f"{thing.id} is {name}: it has no {' and no '.join(wrong)}")
    if not requested:
        raise NothingChangedError("nothing is given that it could have instead")
    if isinstance(thing, Choice) and "text" in requested and not thing.question:
        arms = ", ".join(arm.id for arm in thing.arms)
        raise WrongKindError(
            f"{thing.id} asks what its conditions say: change these with `guard` ({arms})"
        )
    names = {"end": "kind", "goto": "target", "mode": "mode"}
    if isinstance(thing, Choice):
        names["text"] = "question"
    # not as it was dumped: enumerations and ranges are wanted as they are
    update = {names.get(each, each): getattr(operation, each) for each in requested}
    if "target" in update:
        update["target"] = outline.target(str(update["target"]))
    now = thing.model_copy(update=update)
    if now != thing and set(requested) - {"core"}:
        now = now.model_copy(update={"confidence": 1.0})
    return outline.replace(thing.id, now)


def _move(outline: Outline, operation: Move) -> Procedure:
    location = outline[operation.node]
    if isinstance(location.thing, Arm) and len(outline.choice_of(location).arms) > 1:
        return _move_arm(outline, location, operation)
    location = outline.node(operation.node)
    node = location.thing
    if isinstance(node, Arm):
        raise TypeError(node.id)
    for ref in (operation.before, operation.after):
        if ref is not None and outline.node(ref).thing.id == node.id:
            raise IntoItselfError(f"{node.id} cannot be put beside itself")
    name, at = _insertion_point(outline, operation)
    if outline.is_below(name, node.id):
        raise IntoItselfError(f"{node.id} cannot be put below itself")

    # The node leaves a mark behind, so that places still count and no body falls empty meanwhile.
    mark = Remark(id=_PLACEHOLDER_ID, text=_PLACEHOLDER_ID)
    put = node.model_copy(update={"id": _PLACEHOLDER_ID + node.id})
    marked = outline.procedure.map(
        body=lambda each, body: (*body[:at], put, *body[at:]) if each == name else body,
        node=lambda each: (mark,) if each.id == node.id else (each,),
    )
    return marked.map(
        node=lambda each: (
            () if each.id == _PLACEHOLDER_ID else (node,) if each.id == put.id else (each,)
        )
    )


def _insertion_point(outline: Outline, placed: Insert | Move) -> tuple[str, int]:
    """Return the name of the body and the index in it."""
    if placed.before is not None:
        location = outline.node(placed.before)
        return location.body, location.at
    if placed.after is not None:
        location = outline.node(placed.after)
        return location.body, location.at + 1
    if placed.first_in is not None:
        return outline.body(placed.first_in), 0
    name = outline.body(placed.last_in or START)
    return name, len(outline.bodies[name])


def _insert_arm(outline: Outline, placed: Insert | Move, arm: Arm) -> Procedure:
    """Insert an arm at its place in a choice."""
    neighbour = placed.before or placed.after
    if neighbour is not None:
        location = outline[neighbour]
        if not isinstance(location.thing, Arm):
            raise UnknownPlaceError(
                f"{neighbour} is no arm: an arm goes before or after another one"
            )
        choice = outline.choice_of(location)
        at = location.at + (placed.after is not None)
    else:
        ref = placed.first_in or placed.last_in or ""
        location = outline[ref]
        if isinstance(location.thing, Arm):
            choice = outline.choice_of(location)
        elif isinstance(location.thing, Choice):
            choice = location.thing
        else:
            raise UnknownPlaceError(f"{ref} is no choice: an arm goes in one")
        at = 0 if placed.first_in is not None else len(choice.arms)
    return _with_arms(outline, choice, (*choice.arms[:at], arm, *choice.arms[at:]))


def _move_arm(outline: Outline, location: Location, operation: Move) -> Procedure:
    arm = location.thing
    if not isinstance(arm, Arm):
        raise TypeError(arm.id)
    for ref in (operation.before, operation.after, operation.first_in, operation.last_in):
        there = outline[ref] if ref is not None and ref not in outline.procedure.bodies else None
        if there is not None and (there.thing.id == arm.id or arm.id in there.above):
            raise IntoItselfError(f"{arm.id} cannot be put into or beside itself")
    choice = outline.choice_of(location)
    left = _with_arms(outline, choice, tuple(each for each in choice.arms if each.id != arm.id))
    return _insert_arm(Outline(left), operation, arm)


def _with_arms(outline: Outline, choice: Choice, arms: tuple[Arm, ...]) -> Procedure:
    return outline.replace(choice.id, choice.model_copy(update={"arms": arms}))


def _redirect_jumps(before: Outline, now: Procedure, jumps_to: str | None) -> Procedure:
    """Redirect jumps whose target is gone.

    Raises:
        JumpToNothingError: There is no new target.
    """
    after = Outline(now)
    was = {jump.id: jump.target for jump in before.jumps()}
    lost = {
        jump.id: jump
        for jump in after.jumps()
        if jump.target not in after.targets
        and (jump.target in before.targets or was.get(jump.id) != jump.target)
    }
    if not lost:
        return now
    target = after.target(jumps_to) if jumps_to is not None else ""
    if target in after.targets:
        update = {"target": target}
        return now.map(
            node=lambda each: (each.model_copy(update=update) if each.id in lost else each,)
        )
    if jumps_to is not None:
        raise JumpToNothingError(f"jumps cannot go on at {jumps_to[:80]!r}: that is not there")
    first = next(iter(lost.values()))
    is_gone = first.target in before.targets
    raise JumpToNothingError(
        f"the jump {first.id} goes on at {first.target[:80]!r}, which "
        + ("would be gone: say in `jumps_to` where it goes on" if is_gone else "is nowhere")
    )


def _refuse_large(procedure: Procedure) -> None:
    try:
        refuse_large(Reading(reader=Reader.PERSON, procedures=(procedure,)))
    except UnusableReadingError as error:
        raise UnusableOperationError(str(error)) from error
