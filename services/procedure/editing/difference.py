"""What two versions of a procedure differ in, node by node and in words."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from services.kit.value import Value
from services.procedure.editing.changed import changed_words, guard_words
from services.procedure.editing.program import OTHERWISE, Found, Outline
from services.procedure.editing.words import body_in_words, guard_in_words, text_of
from services.procedure.model import Arm, Choice, LineRange, Loop, Node, Procedure


class DifferenceKind(StrEnum):
    """What became of a node."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    """To another body, or past its neighbours."""


class StepDifference(Value):
    """One node that is not as it was; conditions are told beside."""

    node: str
    """Its id."""
    kind: DifferenceKind
    text: str
    """As it is now; of a removed one, as it was."""
    words: tuple[str, ...] = ()
    """What is different, or where it stands."""
    lines: tuple[LineRange, ...] = ()
    """Those that say it; none of what is a person's own."""


class GuardDifference(Value):
    """One condition that is new, gone, or another one."""

    node: str
    """The id of its arm or loop."""
    was: str = ""
    """Empty of a new one."""
    now: str = ""
    """Empty of one that is gone."""
    lines: tuple[LineRange, ...] = ()
    over: tuple[str, ...] = ()
    """What directly stands under it, in the version that has it; the newer one where both do."""


class Difference(Value):
    """All that an edit changes."""

    effects: tuple[str, ...] = ()
    """What each operation does, in words, in their order."""
    steps: tuple[StepDifference, ...] = ()
    """In the order of the newer text, removed ones last."""
    guards: tuple[GuardDifference, ...] = ()


def difference(before: Procedure, after: Procedure) -> Difference:
    """What a person needs to see of an edit; nodes are compared by their ids."""
    was, now = Outline(before), Outline(after)
    return Difference(steps=tuple(_steps(was, now)), guards=tuple(_guards(was, now)))


def _steps(was: Outline, now: Outline) -> Iterator[StepDifference]:
    moved = _moved(was, now)
    for id_, found in now.found.items():
        if id_ not in was.found:
            if not isinstance(found.thing, Choice | Arm):
                yield _told(found, DifferenceKind.ADDED, [f"in {body_in_words(now, found.body)}"])
            continue
        words = _changes(was, now, id_)
        if id_ in moved:
            where = body_in_words(now, found.body)
            yield _told(found, DifferenceKind.MOVED, [f"now in {where}", *words])
        elif words and not isinstance(found.thing, Arm):
            yield _told(found, DifferenceKind.CHANGED, words)
    for id_, found in was.found.items():
        if id_ not in now.found and not isinstance(found.thing, Choice | Arm):
            yield _told(found, DifferenceKind.REMOVED, ())


def _changes(was: Outline, now: Outline, id_: str) -> list[str]:
    """What is different about a node, and what it now hangs on."""
    before, after = was.found[id_], now.found[id_]
    words = changed_words(before.thing, after.thing, now)
    if before.body != after.body and _is_regrouped(was, now, id_):
        words.append(f"now {_hanging(now, after)}, before {_hanging(was, before)}")
    return words


def _hanging(outline: Outline, found: Found) -> str:
    """What a node directly hangs on."""
    over = outline.found.get(found.body.removesuffix(OTHERWISE))
    if over is None:
        return "always done" if not found.above else f"in {body_in_words(outline, found.body)}"
    if found.body.endswith(OTHERWISE):
        return f"done only when {text_of(over.thing)} does not hold"
    if isinstance(over.thing, Arm):
        return f"done only if {guard_in_words(over.thing.guard)}"
    return "repeated" if isinstance(over.thing, Loop) else "part of a choice"


def _is_regrouped(was: Outline, now: Outline, id_: str) -> bool:
    """Whether a condition was put over a node or taken from it, so that one body is not in both."""
    return was.found[id_].body not in _names(now) or now.found[id_].body not in _names(was)


def _names(outline: Outline) -> set[str]:
    return {*outline.bodies, *outline.found}


def _moved(was: Outline, now: Outline) -> set[str]:
    """Nodes that are in another body which both have, or that went past their neighbours."""
    both = [id_ for id_ in now.found if id_ in was.found]
    bodies = _names(was) & _names(now)
    elsewhere = {
        id_
        for id_ in both
        if was.found[id_].body != now.found[id_].body
        and was.found[id_].body in bodies
        and now.found[id_].body in bodies
    }
    past: set[str] = set()
    for body in sorted(bodies):
        here = [
            id_
            for id_ in both
            if id_ not in elsewhere and was.found[id_].body == body == now.found[id_].body
        ]
        past |= set(here) - set(_longest_run([(was.found[id_].at, id_) for id_ in here]))
    return elsewhere | past


def _longest_run(placed: Sequence[tuple[int, str]]) -> list[str]:
    """The most nodes that still follow one another as they did."""
    best: list[list[str]] = []
    for place, (at, id_) in enumerate(placed):
        before = [best[i] for i in range(place) if placed[i][0] < at]
        best.append([*max(before, key=len, default=[]), id_])
    return max(best, key=len, default=[])


def _told(found: Found, kind: DifferenceKind, words: Sequence[str]) -> StepDifference:
    thing = found.thing
    return StepDifference(
        node=thing.id, kind=kind, text=text_of(thing), words=tuple(words), lines=thing.lines
    )


def _guards(was: Outline, now: Outline) -> Iterator[GuardDifference]:
    for id_, found in now.found.items():
        before = was.found.get(id_)
        is_guarded = _condition(found.thing)
        if is_guarded and before is None:
            yield _guard(found.thing, now=is_guarded)
        elif before is not None and guard_words(before.thing, found.thing):
            yield _guard(found.thing, was=_condition(before.thing), now=is_guarded or "always")
    for id_, found in was.found.items():
        if id_ not in now.found and (was_guarded := _condition(found.thing)):
            yield _guard(found.thing, was=was_guarded)


def _condition(thing: Node | Arm) -> str:
    if isinstance(thing, Arm):
        return guard_in_words(thing.guard) if thing.guard is not None else ""
    return f"until {guard_in_words(thing.until)}" if isinstance(thing, Loop) else ""


def _guard(thing: Node | Arm, *, was: str = "", now: str = "") -> GuardDifference:
    body = thing.body if isinstance(thing, Arm | Loop) else ()
    return GuardDifference(
        node=thing.id,
        was=was,
        now=now,
        lines=thing.lines,
        over=tuple(text_of(node) for node in body),
    )
