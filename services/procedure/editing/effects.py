"""What each operation of an edit does, in a sentence."""

from collections.abc import Sequence

from services.procedure.editing.changed import changed_words, guard_words
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
from services.procedure.editing.program import Outline
from services.procedure.editing.words import (
    body_in_words,
    guard_in_words,
    named,
    otherwise_in_words,
    quoted,
    text_of,
)
from services.procedure.model import Arm, Choice, Procedure, bodies_of, walk


def effects(stages: Sequence[Procedure], operations: Sequence[Operation]) -> tuple[str, ...]:
    """What each operation did, of the procedure before it and after it (`apply.stages`)."""
    outlines = [Outline(each) for each in stages]
    steps = zip(outlines, operations, outlines[1:], strict=False)
    return tuple(_first(_effect(was, operation, now)) for was, operation, now in steps)


def _effect(was: Outline, operation: Operation, now: Outline) -> str:
    match operation:
        case SetParameter():
            return _parameter(operation)
        case Delete():
            return _deleted(was, operation)
        case ChangeGuard():
            return _guarded(was, operation, now)
        case SetOtherwise():
            return _without(was, operation, now)
        case Insert() | Move():
            return _placed(was, operation, now)
        case Replace():
            thing = was[operation.node].thing
            words = changed_words(thing, now.found[thing.id].thing, now)
            return f"{named(was, thing)}: {'; '.join(words)}"


def _parameter(operation: SetParameter) -> str:
    name = f"<{operation.name.strip('<>')}>"
    if operation.literal is not None:
        return f"{quoted(operation.literal)} becomes the parameter {name}"
    return f"the parameter {name} is {quoted(operation.value or '')}"


def _placed(was: Outline, operation: Insert | Move, now: Outline) -> str:
    if isinstance(operation, Move):
        id_ = was[operation.node].thing.id
        if id_ not in now.found or _is_only_arm(was, id_):
            id_ = was.node(operation.node).thing.id
        return f"{named(was, was.found[id_].thing)} is moved: {_standing(now, id_)}"
    new = next(found for id_, found in now.found.items() if id_ not in was.found)
    return f"{named(now, new.thing)} is new: {_standing(now, new.thing.id)}"


def _is_only_arm(outline: Outline, id_: str) -> bool:
    found = outline.found[id_]
    return isinstance(found.thing, Arm) and len(outline.choice_of(found).arms) == 1


def _without(was: Outline, operation: SetOtherwise, now: Outline) -> str:
    found = was[operation.node]
    choice = now.found[found.body if isinstance(found.thing, Arm) else found.thing.id].thing
    if not isinstance(choice, Choice):
        raise TypeError(choice.id)
    asked = quoted(choice.question) if choice.question else text_of(choice)
    return f"when {asked} does not hold, {otherwise_in_words(now, choice)}"


def _deleted(was: Outline, operation: Delete) -> str:
    thing = was[operation.node].thing
    bodies = (thing.body,) if isinstance(thing, Arm) else bodies_of(thing)
    below = sum(1 for body in bodies for _ in walk(body))
    told = f"{named(was, thing)} is deleted"
    if not below:
        return told
    what = f"what is below it ({below} node{'' if below == 1 else 's'})"
    return f"{told}; {what} stays" if operation.keep_below else f"{told} with {what}"


def _guarded(was: Outline, operation: ChangeGuard, now: Outline) -> str:
    found = was[operation.nodes[0]]
    new = (f.thing for id_, f in now.found.items() if id_ not in was.found)
    arm = next((each for each in new if isinstance(each, Arm)), None)
    if arm is not None and operation.when is not None:
        under = ", ".join(named(now, node) for node in arm.body)
        choice = now.choice_of(now.found[arm.id])
        told = f"{under}: done only if {guard_in_words(arm.guard)}"
        is_silent = choice.otherwise is None
        return told if is_silent else f"{told}; if not, {otherwise_in_words(now, choice)}"
    if operation.how is How.REMOVE:
        return f"{named(was, found.thing)}: the condition is taken away"
    for id_, then in now.found.items():
        before = was.found.get(id_)
        if before is not None and (words := guard_words(before.thing, then.thing)):
            return f"{named(was, before.thing)}: {words}"
    return f"{named(was, found.thing)}: other lines say the condition"


def _standing(outline: Outline, id_: str) -> str:
    """Where something stands, by its neighbour or the body that it is alone in."""
    found = outline.found[id_]
    if isinstance(found.thing, Arm):
        arms = outline.choice_of(found).arms
        if found.at:
            return f"behind the condition {guard_in_words(arms[found.at - 1].guard)}"
        return "the first condition of its choice"
    body = outline.bodies[found.body]
    inside = f", in {body_in_words(outline, found.body)}"
    if found.at:
        return f"behind {named(outline, body[found.at - 1])}{inside}"
    if len(body) > 1:
        return f"before {named(outline, body[1])}{inside}"
    return f"alone in {body_in_words(outline, found.body)}"


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]
