"""A procedure with operations done, each on what the one before left."""

import re
from collections.abc import Sequence
from itertools import count

from services.procedure.checking.check import UnusableReadingError, refuse_large
from services.procedure.editing.errors import (
    IdTakenError,
    IntoItselfError,
    JumpToNothingError,
    NothingChangedError,
    NotTogetherError,
    UnknownPlaceError,
    UnusableOperationError,
    WrongKindError,
)
from services.procedure.editing.guarding import guard_changed
from services.procedure.editing.operations import (
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
from services.procedure.editing.parameters import with_parameter
from services.procedure.editing.program import OTHERWISE, Found, Outline, rewritten
from services.procedure.model import (
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
from services.procedure.program.changing import with_bodies
from services.procedure.program.numbering import numbered, sourced

_NUMBERED = re.compile(r"n(\d+)")
_MOVED = "\x00moved"
"""The id of what stands in the place of a node while it is moved; no reader writes it."""
_KINDS: dict[type, tuple[str, frozenset[str]]] = {
    Do: ("a step", frozenset({"text", "commands", "expected", "core", "lines"})),
    End: ("an end", frozenset({"text", "commands", "end", "lines"})),
    Remark: ("a note", frozenset({"text", "lines"})),
    Jump: ("a jump", frozenset({"goto", "lines"})),
    Choice: ("a choice", frozenset({"text", "mode", "lines"})),
    Loop: ("a loop", frozenset({"lines"})),
    Arm: ("a condition, which the operation `guard` changes", frozenset({"lines"})),
}
"""What each kind is called, and what `replace` may give it."""


def apply(procedure: Procedure, operations: Sequence[Operation]) -> Procedure:
    """The procedure with all operations done, in their order.

    Ids and lines of what no operation names stay. New nodes get ids that it never had.

    Raises:
        UnusableOperationError: One cannot be done; the refusal says which, and its class why.
    """
    return stages(procedure, operations)[-1]


def stages(procedure: Procedure, operations: Sequence[Operation]) -> list[Procedure]:
    """The procedure as it was, all its nodes with ids, and after each operation.

    Raises:
        UnusableOperationError: See `apply`.
    """
    found = [with_ids(procedure)]
    editing = _Editing(found[0])
    for place, operation in enumerate(operations):
        try:
            found.append(editing.done(found[-1], operation))
        except UnusableOperationError as error:
            raise error.of(place, operation.op) from error
    return found


def with_ids(procedure: Procedure) -> Procedure:
    """The procedure, each node with an id of its own."""
    reading = Reading(reader=Reader.PERSON, procedures=(procedure,))
    return numbered(reading).procedures[0]


class _Editing:
    """Operations on one procedure; knows which ids were ever used."""

    def __init__(self, procedure: Procedure) -> None:
        self._used = {each.id for each in sourced(procedure)}
        highest = max(
            (int(m[1]) for id_ in self._used if (m := _NUMBERED.fullmatch(id_))), default=0
        )
        self._fresh = (f"n{number}" for number in count(highest + 1))

    def done(self, procedure: Procedure, operation: Operation) -> Procedure:
        """The procedure after one operation."""
        outline = Outline(procedure)
        jumps_to: str | None = None
        match operation:
            case Insert():
                now = self._inserted(outline, operation)
            case Delete():
                now, jumps_to = _deleted(outline, operation), operation.jumps_to
            case Replace():
                now = _replaced(outline, operation)
            case Move():
                now, jumps_to = _moved(outline, operation), operation.jumps_to
            case ChangeGuard():
                now = self._guarded(outline, operation)
            case SetOtherwise():
                now, jumps_to = self._with_otherwise(outline, operation), operation.jumps_to
            case SetParameter():
                now = with_parameter(outline, operation)
        now = _jumping(outline, now, jumps_to)
        if now == procedure:
            raise NothingChangedError("it leaves everything as it is")
        _refuse_large(now)
        return now

    def _inserted(self, outline: Outline, operation: Insert) -> Procedure:
        if operation.arm is not None:
            arm = self._own_arm(outline, operation.arm)
            return _with_arm(outline, operation, arm)
        if operation.node is None:
            raise WrongKindError("expected a node or an arm")
        (node,) = self._own(outline, (operation.node,))
        name, at = _place(outline, operation)
        return rewritten(
            outline.procedure,
            body=lambda each, body: (*body[:at], node, *body[at:]) if each == name else body,
        )

    def _guarded(self, outline: Outline, operation: ChangeGuard) -> Procedure:
        how = operation.how
        if how is None:
            is_arm = len(operation.nodes) == 1 and isinstance(
                outline[operation.nodes[0]].thing, Arm
            )
            how = How.CHANGE if is_arm else How.PUT
        if how is not How.PUT:
            return guard_changed(outline, operation, how)
        found = [outline.node(ref) for ref in dict.fromkeys(operation.nodes)]
        found.sort(key=lambda each: each.at)
        name, first, last = found[0].body, found[0].at, found[-1].at
        is_run = [each.at for each in found] == list(range(first, last + 1))
        if any(each.body != name for each in found) or not is_run:
            raise NotTogetherError(
                f"{', '.join(each.thing.id for each in found)} do not follow one another in one "
                "body: put each under the condition, or move them together first"
            )
        lines = operation.lines or ()
        arm = Arm(id=self._new(), guard=operation.when, lines=lines)
        otherwise = None
        if operation.otherwise is not None:
            otherwise = self._own(outline, operation.otherwise)
        choice = Choice(id=self._new(), mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines)
        return rewritten(
            outline.procedure,
            body=lambda each, body: (
                _wrapped(body, first, last, choice, otherwise) if each == name else body
            ),
        )

    def _with_otherwise(self, outline: Outline, operation: SetOtherwise) -> Procedure:
        found = outline[operation.node]
        choice = outline.choice_of(found) if isinstance(found.thing, Arm) else found.thing
        if not isinstance(choice, Choice):
            raise WrongKindError(
                f"{choice.id} is {_KINDS[type(choice)][0]}: only a choice has another answer"
            )
        given: Body | None = operation.steps or ()
        lines = operation.lines or ()
        if operation.end is not None:
            given = (End(kind=operation.end, text=operation.text, lines=lines),)
        elif operation.goto is not None:
            given = (Jump(target=operation.goto, lines=lines),)
        new = None if operation.unsaid else self._own(outline, given or ())
        return _with_thing(outline, choice.id, choice.model_copy(update={"otherwise": new}))

    # What is new.

    def _own(self, outline: Outline, body: Body) -> Body:
        """A body that was given, each node with an id that nothing has; its jumps lead somewhere.

        Raises:
            IdTakenError: It brings an id that is in use.
        """
        _refuse_large(Procedure(title="", body=body))
        taken = {*outline.found, *outline.bodies}
        return tuple(self._with_id(outline, node, taken) for node in body)

    def _own_arm(self, outline: Outline, arm: Arm) -> Arm:
        body = self._own(outline, arm.body)
        return arm.model_copy(update={"id": self._id(arm.id, set(outline.found)), "body": body})

    def _with_id(self, outline: Outline, node: Node, taken: set[str]) -> Node:
        update = {"id": self._id(node.id, taken)}
        if isinstance(node, Jump):
            update["target"] = outline.target(node.target)
        return with_bodies(
            node.model_copy(update=update),
            lambda body: tuple(self._with_id(outline, each, taken) for each in body),
            lambda arm: arm.model_copy(update={"id": self._id(arm.id, taken)}),
        )

    def _id(self, given: str, taken: set[str]) -> str:
        if given in taken:
            raise IdTakenError(f"something else has the id {given[:80]!r}: leave it out")
        id_ = given or self._new()
        self._used.add(id_)
        taken.add(id_)
        return id_

    def _new(self) -> str:
        id_ = next(each for each in self._fresh if each not in self._used)
        self._used.add(id_)
        return id_


def _deleted(outline: Outline, operation: Delete) -> Procedure:
    found = outline[operation.node]
    if not isinstance(found.thing, Arm):
        below = tuple(node for body in bodies_of(found.thing) for node in body)
        return _with_thing(outline, found.thing.id, below if operation.keep_below else ())
    choice = outline.choice_of(found)
    if len(choice.arms) > 1:
        if operation.keep_below:
            raise WrongKindError(
                f"{found.thing.id} is one of several answers: `guard` with `remove` has its steps "
                "done always, `move` puts them elsewhere"
            )
        return _with_arms(outline, choice, tuple(a for a in choice.arms if a.id != found.thing.id))
    if choice.otherwise and not operation.keep_below:
        raise WrongKindError(
            f"{found.thing.id} is the only condition of the choice {choice.id}, which says what is "
            f"done otherwise: delete {choice.id}, or move {choice.id}{OTHERWISE} elsewhere first"
        )
    return _deleted(outline, operation.model_copy(update={"node": choice.id}))


def _replaced(outline: Outline, operation: Replace) -> Procedure:
    thing = outline[operation.node].thing
    given = operation.model_dump(exclude={"op", "node"}, exclude_none=True, by_alias=False)
    name, allowed = _KINDS[type(thing)]
    wrong = sorted(set(given) - allowed)
    if wrong:
        raise WrongKindError(f"{thing.id} is {name}: it has no {' and no '.join(wrong)}")
    if not given:
        raise NothingChangedError("nothing is given that it could have instead")
    if isinstance(thing, Choice) and "text" in given and not thing.question:
        arms = ", ".join(arm.id for arm in thing.arms)
        raise WrongKindError(
            f"{thing.id} asks what its conditions say: change these with `guard` ({arms})"
        )
    names = {"end": "kind", "goto": "target", "mode": "mode"}
    if isinstance(thing, Choice):
        names["text"] = "question"
    # not as it was dumped: enumerations and ranges are wanted as they are
    update = {names.get(each, each): getattr(operation, each) for each in given}
    if "target" in update:
        update["target"] = outline.target(str(update["target"]))
    now = thing.model_copy(update=update)
    if now != thing and set(given) - {"core"}:
        now = now.model_copy(update={"confidence": 1.0})
    return _with_thing(outline, thing.id, now)


def _moved(outline: Outline, operation: Move) -> Procedure:
    found = outline[operation.node]
    if isinstance(found.thing, Arm) and len(outline.choice_of(found).arms) > 1:
        return _with_arm_moved(outline, found, operation)
    found = outline.node(operation.node)
    node = found.thing
    if isinstance(node, Arm):
        raise TypeError(node.id)
    for ref in (operation.before, operation.after):
        if ref is not None and outline.node(ref).thing.id == node.id:
            raise IntoItselfError(f"{node.id} cannot be put beside itself")
    name, at = _place(outline, operation)
    if outline.is_below(name, node.id):
        raise IntoItselfError(f"{node.id} cannot be put below itself")

    # The node leaves a mark behind, so that places still count and no body falls empty meanwhile.
    mark = Remark(id=_MOVED, text=_MOVED)
    put = node.model_copy(update={"id": _MOVED + node.id})
    marked = rewritten(
        outline.procedure,
        body=lambda each, body: (*body[:at], put, *body[at:]) if each == name else body,
        node=lambda each: (mark,) if each.id == node.id else (each,),
    )
    return rewritten(
        marked,
        node=lambda each: () if each.id == _MOVED else (node,) if each.id == put.id else (each,),
    )


def _place(outline: Outline, placed: Insert | Move) -> tuple[str, int]:
    """The body and the place in it."""
    if placed.before is not None:
        found = outline.node(placed.before)
        return found.body, found.at
    if placed.after is not None:
        found = outline.node(placed.after)
        return found.body, found.at + 1
    if placed.first_in is not None:
        return outline.body(placed.first_in), 0
    name = outline.body(placed.last_in or START)
    return name, len(outline.bodies[name])


def _with_arm(outline: Outline, placed: Insert | Move, arm: Arm) -> Procedure:
    """An arm at its place in a choice."""
    beside = placed.before or placed.after
    if beside is not None:
        found = outline[beside]
        if not isinstance(found.thing, Arm):
            raise UnknownPlaceError(f"{beside} is no arm: an arm goes before or after another one")
        choice = outline.choice_of(found)
        at = found.at + (placed.after is not None)
    else:
        ref = placed.first_in or placed.last_in or ""
        found = outline[ref]
        if isinstance(found.thing, Arm):
            choice = outline.choice_of(found)
        elif isinstance(found.thing, Choice):
            choice = found.thing
        else:
            raise UnknownPlaceError(f"{ref} is no choice: an arm goes in one")
        at = 0 if placed.first_in is not None else len(choice.arms)
    return _with_arms(outline, choice, (*choice.arms[:at], arm, *choice.arms[at:]))


def _with_arm_moved(outline: Outline, found: Found, operation: Move) -> Procedure:
    arm = found.thing
    if not isinstance(arm, Arm):
        raise TypeError(arm.id)
    for ref in (operation.before, operation.after, operation.first_in, operation.last_in):
        there = outline[ref] if ref is not None and ref not in outline.procedure.bodies else None
        if there is not None and (there.thing.id == arm.id or arm.id in there.above):
            raise IntoItselfError(f"{arm.id} cannot be put into or beside itself")
    choice = outline.choice_of(found)
    left = _with_arms(outline, choice, tuple(each for each in choice.arms if each.id != arm.id))
    return _with_arm(Outline(left), operation, arm)


def _with_arms(outline: Outline, choice: Choice, arms: tuple[Arm, ...]) -> Procedure:
    return _with_thing(outline, choice.id, choice.model_copy(update={"arms": arms}))


def _with_thing(outline: Outline, id_: str, now: Node | Arm | Body) -> Procedure:
    """Another node, arm or body in the place of what has this id."""
    if isinstance(now, Arm):
        return rewritten(outline.procedure, arm=lambda each: (now,) if each.id == id_ else (each,))
    body = now if isinstance(now, tuple) else (now,)
    return rewritten(outline.procedure, node=lambda each: body if each.id == id_ else (each,))


def _wrapped(body: Body, first: int, last: int, choice: Choice, otherwise: Body | None) -> Body:
    (arm,) = choice.arms
    inside = arm.model_copy(update={"body": body[first : last + 1]})
    update = {"arms": (inside,), "otherwise": otherwise}
    return (*body[:first], choice.model_copy(update=update), *body[last + 1 :])


def _jumping(before: Outline, now: Procedure, jumps_to: str | None) -> Procedure:
    """The procedure with jumps to what is gone led elsewhere.

    Raises:
        JumpToNothingError: Nobody says where to.
    """
    after = Outline(now)
    lost = {jump.id: jump for jump in after.jumps() if jump.target not in after.targets}
    was = {jump.id: jump.target for jump in before.jumps()}
    lost = {
        id_: jump
        for id_, jump in lost.items()
        if jump.target in before.targets or was.get(id_) != jump.target
    }
    if not lost:
        return now
    first = next(iter(lost.values()))
    target = after.target(jumps_to) if jumps_to is not None else ""
    if target not in after.targets:
        is_gone = first.target in before.targets
        told = f"the jump {first.id} goes on at {first.target[:80]!r}, which "
        if jumps_to is not None:
            raise JumpToNothingError(f"jumps cannot go on at {jumps_to[:80]!r}: that is not there")
        raise JumpToNothingError(
            told
            + ("would be gone: say in `jumps_to` where it goes on" if is_gone else "is nowhere")
        )
    return rewritten(now, node=lambda each: (_led(each, lost, target),))


def _led(node: Node, lost: dict[str, Jump], target: str) -> Node:
    return node.model_copy(update={"target": target}) if node.id in lost else node


def _refuse_large(procedure: Procedure) -> None:
    try:
        refuse_large(Reading(reader=Reader.PERSON, procedures=(procedure,)))
    except UnusableReadingError as error:
        raise UnusableOperationError(str(error)) from error
