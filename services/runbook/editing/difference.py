"""Difference of two versions of a procedure and the effects of the operations between, in words."""

from collections.abc import Iterator, Sequence, Set
from enum import StrEnum

from services.kit.value import Value
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
from services.runbook.editing.words import (
    body_in_words,
    describe_changes,
    describe_guard_change,
    otherwise_in_words,
    subject_phrase,
)
from services.runbook.model import (
    OTHERWISE,
    START,
    Arm,
    Choice,
    LineRange,
    Loop,
    Node,
    Procedure,
    bodies_of,
    walk,
)
from services.runbook.words import guard_in_words, quoted, text_of


class DifferenceKind(StrEnum):
    """The kind of change to a node."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    """Moved to another body, or past its neighbours."""


class StepDifference(Value):
    """A node that changed; conditions are listed apart."""

    node: str
    """The node's id."""
    kind: DifferenceKind
    text: str
    """The text now, or the last one of a removed node."""
    words: tuple[str, ...] = ()
    """A description of what is different, or of the place."""
    lines: tuple[LineRange, ...] = ()
    """The lines that say it; empty if it is a person's own."""


class GuardDifference(Value):
    """A condition that is new, gone, or changed."""

    node: str
    """The id of the arm or loop."""
    was: str = ""
    """The earlier condition; empty for a new one."""
    now: str = ""
    """The present condition; empty for one that is gone."""
    lines: tuple[LineRange, ...] = ()
    over: tuple[str, ...] = ()
    """Texts directly below it, in the newer version that has it."""


class Difference(Value):
    """All changes of an edit."""

    effects: tuple[str, ...] = ()
    """The effect of each operation, in words and in their order."""
    steps: tuple[StepDifference, ...] = ()
    """Changed nodes in the order of the newer text, removed ones last."""
    guards: tuple[GuardDifference, ...] = ()


def difference(before: Procedure, after: Procedure) -> Difference:
    """Return the changes that a person needs to see; nodes are compared by their ids."""
    was, now = Outline(before), Outline(after)
    return Difference(
        steps=tuple(_step_differences(was, now)), guards=tuple(_guard_differences(was, now))
    )


def _step_differences(was: Outline, now: Outline) -> Iterator[StepDifference]:
    bodies = {*was.bodies, *was.locations} & {*now.bodies, *now.locations}
    moved = _moved_nodes(was, now, bodies)
    for id_, location in now.locations.items():
        if id_ not in was.locations:
            if not isinstance(location.thing, Choice | Arm):
                yield _step_difference(
                    location, DifferenceKind.ADDED, [f"in {body_in_words(now, location.body)}"]
                )
            continue
        words = describe_changes(was.locations[id_].thing, location.thing, now)
        there = was.locations[id_].body
        if there != location.body and not {there, location.body} <= bodies:
            # A condition was put over the node or taken away.
            before, after = _dependency(was, was.locations[id_]), _dependency(now, location)
            words.append(f"now {after}, before {before}")
        if id_ in moved:
            where = body_in_words(now, location.body)
            yield _step_difference(location, DifferenceKind.MOVED, [f"now in {where}", *words])
        elif words and not isinstance(location.thing, Arm):
            yield _step_difference(location, DifferenceKind.CHANGED, words)
    for id_, location in was.locations.items():
        if id_ not in now.locations and not isinstance(location.thing, Choice | Arm):
            yield _step_difference(location, DifferenceKind.REMOVED, ())


def _dependency(outline: Outline, location: Location) -> str:
    """Describe what a node directly depends on."""
    owner = outline.locations.get(location.body.removesuffix(OTHERWISE))
    if owner is None:
        return (
            "always done" if not location.above else f"in {body_in_words(outline, location.body)}"
        )
    if location.body.endswith(OTHERWISE):
        return f"done only when {text_of(owner.thing)} does not hold"
    if isinstance(owner.thing, Arm):
        return f"done only if {guard_in_words(owner.thing.guard)}"
    return "repeated" if isinstance(owner.thing, Loop) else "part of a choice"


def _moved_nodes(was: Outline, now: Outline, bodies: Set[str]) -> set[str]:
    """Return the nodes that changed to a body of both versions, or passed their neighbours."""
    elsewhere: set[str] = set()
    together: dict[str, list[tuple[int, str]]] = {}
    for id_, location in now.locations.items():
        before = was.locations.get(id_)
        if before is None or not {before.body, location.body} <= bodies:
            continue
        if before.body != location.body:
            elsewhere.add(id_)
        else:
            together.setdefault(location.body, []).append((before.at, id_))
    return elsewhere.union(
        *(
            {id_ for _, id_ in placed}.difference(_longest_run(placed))
            for placed in together.values()
        )
    )


def _longest_run(placed: Sequence[tuple[int, str]]) -> list[str]:
    """Return the longest sequence of nodes that keep their earlier order."""
    best: list[list[str]] = []
    for place, (at, id_) in enumerate(placed):
        before = [best[i] for i in range(place) if placed[i][0] < at]
        best.append([*max(before, key=len, default=[]), id_])
    return max(best, key=len, default=[])


def _step_difference(
    location: Location, kind: DifferenceKind, words: Sequence[str]
) -> StepDifference:
    thing = location.thing
    return StepDifference(
        node=thing.id, kind=kind, text=text_of(thing), words=tuple(words), lines=thing.lines
    )


def _guard_differences(was: Outline, now: Outline) -> Iterator[GuardDifference]:
    for id_, location in now.locations.items():
        before = was.locations.get(id_)
        condition = _condition(location.thing)
        if condition and before is None:
            yield _guard_difference(location.thing, now=condition)
        elif before is not None and describe_guard_change(before.thing, location.thing):
            yield _guard_difference(
                location.thing, was=_condition(before.thing), now=condition or "always"
            )
    for id_, location in was.locations.items():
        if id_ not in now.locations and (old_condition := _condition(location.thing)):
            yield _guard_difference(location.thing, was=old_condition)


def _condition(thing: Node | Arm) -> str:
    if isinstance(thing, Arm):
        return guard_in_words(thing.guard) if thing.guard is not None else ""
    return f"until {guard_in_words(thing.until)}" if isinstance(thing, Loop) else ""


def _guard_difference(thing: Node | Arm, *, was: str = "", now: str = "") -> GuardDifference:
    body = thing.body if isinstance(thing, Arm | Loop) else ()
    return GuardDifference(
        node=thing.id,
        was=was,
        now=now,
        lines=thing.lines,
        over=tuple(text_of(node) for node in body),
    )


def describe_effects(
    stages: Sequence[Procedure], operations: Sequence[Operation]
) -> tuple[str, ...]:
    """Describe what each operation did; `stages` are those of `apply.stages`."""
    outlines = [Outline(each) for each in stages]
    steps = zip(outlines, operations, outlines[1:], strict=False)
    effects = (_effect(before, operation, after) for before, operation, after in steps)
    return tuple(effect[:1].upper() + effect[1:] for effect in effects)


def _effect(before: Outline, operation: Operation, after: Outline) -> str:
    match operation:
        case SetParameter():
            name = f"<{operation.name.strip('<>')}>"
            text = quoted(operation.literal or operation.value or "")
            is_new = operation.literal is not None
            return (
                f"{text} becomes the parameter {name}"
                if is_new
                else f"the parameter {name} is {text}"
            )
        case Delete():
            return _describe_deletion(before, operation)
        case ChangeGuard():
            return _describe_guard(before, operation, after)
        case SetOtherwise():
            return _describe_otherwise(before, operation, after)
        case Insert() | Move():
            return _describe_placement(before, operation, after)
        case Replace():
            thing = before[operation.node].thing
            words = describe_changes(thing, after.locations[thing.id].thing, after)
            return f"{subject_phrase(before, thing)}: {'; '.join(words)}"


def _describe_placement(before: Outline, operation: Insert | Move, after: Outline) -> str:
    if isinstance(operation, Move):
        location = before[operation.node]
        is_only_arm = isinstance(location.thing, Arm) and len(before.choice_of(location).arms) == 1
        id_ = location.thing.id
        if id_ not in after.locations or is_only_arm:
            id_ = before.node(operation.node).thing.id
        subject = subject_phrase(before, before.locations[id_].thing)
        return f"{subject} is moved {_describe_position(after, id_)}"
    new = next(location for id_, location in after.locations.items() if id_ not in before.locations)
    return f"{subject_phrase(after, new.thing)} is new, {_describe_position(after, new.thing.id)}"


def _describe_otherwise(before: Outline, operation: SetOtherwise, after: Outline) -> str:
    location = before[operation.node]
    choice = after.locations[
        location.body if isinstance(location.thing, Arm) else location.thing.id
    ].thing
    if not isinstance(choice, Choice):
        raise TypeError(choice.id)
    question = quoted(choice.question) if choice.question else text_of(choice)
    return f"when {question} does not hold, {otherwise_in_words(after, choice)}"


def _describe_deletion(before: Outline, operation: Delete) -> str:
    thing = before[operation.node].thing
    bodies = (thing.body,) if isinstance(thing, Arm) else bodies_of(thing)
    below = sum(1 for body in bodies for _ in walk(body))
    sentence = f"{subject_phrase(before, thing)} is deleted"
    if not below:
        return sentence
    what = f"what is below it ({below} node{'' if below == 1 else 's'})"
    return f"{sentence}; {what} stays" if operation.keep_below else f"{sentence} with {what}"


def _describe_guard(before: Outline, operation: ChangeGuard, after: Outline) -> str:
    location = before[operation.nodes[0]]
    new = (f.thing for id_, f in after.locations.items() if id_ not in before.locations)
    arm = next((each for each in new if isinstance(each, Arm)), None)
    if arm is not None and operation.when is not None:
        under = ", ".join(subject_phrase(after, node) for node in arm.body)
        choice = after.choice_of(after.locations[arm.id])
        sentence = f"{under}: done only if {guard_in_words(arm.guard)}"
        is_silent = choice.otherwise is None
        return sentence if is_silent else f"{sentence}; if not, {otherwise_in_words(after, choice)}"
    if operation.how is How.REMOVE:
        return f"{subject_phrase(before, location.thing)}: the condition is taken away"
    for id_, location_after in after.locations.items():
        location_before = before.locations.get(id_)
        if location_before is not None and (
            words := describe_guard_change(location_before.thing, location_after.thing)
        ):
            return f"{subject_phrase(before, location_before.thing)} {words}"
    return f"{subject_phrase(before, location.thing)}: other lines say the condition"


def _describe_position(outline: Outline, id_: str) -> str:
    """Describe a position by the neighbour, or by the body that has nothing else."""
    location = outline.locations[id_]
    if isinstance(location.thing, Arm):
        arms = outline.choice_of(location).arms
        if location.at:
            return f"after the condition {guard_in_words(arms[location.at - 1].guard)}"
        return "the first condition of its choice"
    body = outline.bodies[location.body]
    inside = f", in {body_in_words(outline, location.body)}" if location.body != START else ""
    if location.at:
        return f"after {subject_phrase(outline, body[location.at - 1])}{inside}"
    if len(body) > 1:
        return f"before {subject_phrase(outline, body[1])}{inside}"
    return f"alone in {body_in_words(outline, location.body)}"
