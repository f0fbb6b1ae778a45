"""A step as its forms show it: what it says, what it hangs on, and where it could go."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.gateway.ui.knowledge.readings.steps.form import (
    Act,
    StepForm,
    condition_of,
    said,
    typed_guard,
    typed_lines,
)
from services.procedure.editing.apply import with_ids
from services.procedure.editing.program import OTHERWISE, Found, Outline
from services.procedure.editing.words import (
    body_in_words,
    guard_in_words,
    named,
    text_of,
)
from services.procedure.model import (
    START,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Guard,
    Jump,
    LineRange,
    Loop,
    Node,
    Procedure,
    Remark,
    bodies_of,
)

_INDENT = "· "
_LINES_AROUND = 2


@dataclass(frozen=True)
class Button:
    """Something that can be done about a step at once."""

    act: str
    label: str


@dataclass(frozen=True)
class StepMenu:
    """What can be done about a step, beside its forms."""

    node: str
    buttons: tuple[Button, ...]


@dataclass(frozen=True)
class Written:
    """Something that is written in a procedure and is no step of its drawing."""

    node: str
    text: str
    lines: tuple[LineRange, ...]
    menu: StepMenu


@dataclass(frozen=True)
class Named:
    """A node, or a place, by a word that is sent and words that are read."""

    value: str
    label: str


@dataclass(frozen=True)
class ShownNode:
    """All that the forms of one step show."""

    node: str
    kind: str
    """`do`, `end`, `note`, `goto`, `choice`, `repeat` or `arm`."""
    text: str
    lines: tuple[LineRange, ...]
    hanging: str
    """What it hangs on, in words."""
    near: tuple[Named, ...]
    """What stands around it, by node."""
    menu: StepMenu
    can_say: bool
    """Whether it has words of its own."""
    condition: str
    """The node whose condition the forms change; empty where there is none."""
    over: tuple[str, ...]
    """What that condition stands over."""
    is_free: bool
    """Whether that condition can be negated and taken away; an answer to a question cannot."""
    is_mixed: bool
    """Whether the condition is of several kinds, which no form can show."""
    has_otherwise: bool
    after: tuple[Named, ...]
    """Where something new may go."""
    through: tuple[Named, ...]
    """It and what follows it in its body: one condition can stand over a run of them."""
    places: tuple[Named, ...]
    """Where it may be moved to."""
    targets: tuple[Named, ...]
    """Where jumps may go on."""
    has_below: bool
    is_jumped_to: bool
    forms: dict[str, StepForm]
    """What each form has in its fields, by its act."""


def menu_of(outline: Outline, id_: str) -> StepMenu:
    """What can be done at once about a node or arm."""
    found = outline.found[id_]
    if isinstance(found.thing, Arm) and len(outline.choice_of(found).arms) > 1:
        moves = tuple(_arm_moves(outline, found))
    else:
        moves = tuple(_moves(outline, outline.node(id_)))
    buttons = list(moves)
    if isinstance(outline.found.get(found.body, found).thing, Arm) and not isinstance(
        found.thing, Arm
    ):
        buttons.append(Button(Act.REMOVE.value, "Do it always"))
    buttons.append(Button(Act.DELETE.value, "Delete"))
    return StepMenu(id_, tuple(buttons))


def written(procedure: Procedure, shown: set[str]) -> Iterator[Written]:
    """Notes and jumps, and steps that no path leads to: all that a drawing does not have."""
    outline = Outline(with_ids(procedure))
    for id_, found in outline.found.items():
        thing = found.thing
        is_step = isinstance(thing, Do | End)
        if isinstance(thing, Remark | Jump) or (is_step and id_ not in shown):
            yield Written(id_, _first(named(outline, thing)), thing.lines, menu_of(outline, id_))


def shown_node(outline: Outline, id_: str, typed: StepForm | None) -> ShownNode:
    """A node for its forms; the form that was sent keeps what was typed in it.

    Raises:
        UnknownNodeError: The procedure has no such node.
    """
    found = outline[id_]
    thing = found.thing
    node = outline.node(id_) if _is_node(outline, found) else found
    over = condition_of(outline, found)
    choice = thing if isinstance(thing, Choice) else None
    if isinstance(over, Arm):
        choice = outline.choice_of(outline.found[over.id])
    forms = _forms(found, over, choice)
    if typed is not None:
        forms[typed.act.value] = typed
    is_node = not isinstance(node.thing, Arm)
    return ShownNode(
        node=thing.id,
        kind=_kind(thing),
        text=text_of(thing),
        lines=thing.lines,
        hanging=_hanging(outline, found),
        near=tuple(_near(outline, found)),
        menu=menu_of(outline, thing.id),
        can_say=_has_words(thing),
        condition=over.id if over else "",
        over=tuple(text_of(each) for each in over.body) if over else (),
        is_free=_is_free(over, choice),
        is_mixed=over is not None and typed_guard(_asked(over)) is None,
        has_otherwise=choice is not None,
        after=tuple(_new_places(outline, found)),
        through=tuple(_through(outline, node)) if is_node else (),
        places=tuple(_places(outline, node)) if is_node else (),
        targets=tuple(_targets(outline)),
        has_below=any(_below(thing)),
        is_jumped_to=_is_jumped_to(outline, found),
        forms=forms,
    )


def _has_words(thing: Node | Arm) -> bool:
    if isinstance(thing, Choice):
        return bool(thing.question)
    return not isinstance(thing, Arm | Loop)


def _is_free(over: Arm | Loop | None, choice: Choice | None) -> bool:
    if isinstance(over, Arm):
        return over.guard is not None and choice is not None and not choice.question
    return over is not None


def _asked(over: Arm | Loop) -> Guard | None:
    return over.guard if isinstance(over, Arm) else over.until


def _is_node(outline: Outline, found: Found) -> bool:
    return not isinstance(found.thing, Arm) or len(outline.choice_of(found).arms) == 1


def _kind(thing: Node | Arm) -> str:
    kinds: dict[type, str] = {
        Do: "do",
        End: "end",
        Remark: "note",
        Jump: "goto",
        Choice: "choice",
        Loop: "repeat",
    }
    return kinds.get(type(thing), "arm")


def _below(thing: Node | Arm) -> list[Body]:
    return [thing.body] if isinstance(thing, Arm) else bodies_of(thing)


def _forms(found: Found, over: Arm | Loop | None, choice: Choice | None) -> dict[str, StepForm]:
    given = {
        Act.SAY: said(found.thing),
        Act.OTHERWISE: _otherwise(choice) if choice else {},
    }
    if over is not None:
        given[Act.CHANGE] = {**(typed_guard(_asked(over)) or {}), "lines": typed_lines(over.lines)}
    base = {"node": found.thing.id}
    return {
        act.value: StepForm.model_validate({**base, "act": act.value, **given.get(act, {})})
        for act in Act
    }


def _otherwise(choice: Choice) -> dict[str, str]:
    body = choice.otherwise
    if body is None:
        return {"otherwise": "unsaid"}
    if not body:
        return {"otherwise": "go_on"}
    if len(body) == 1 and isinstance(body[0], End):
        return {"otherwise": body[0].kind.value, "text": body[0].text}
    if len(body) == 1 and isinstance(body[0], Jump):
        return {"otherwise": "goto", "goto": body[0].target}
    return {}


def _moves(outline: Outline, found: Found) -> Iterator[Button]:
    """Up and down past a neighbour, into its condition, and out of one's own."""
    body = outline.bodies[found.body]
    if found.at:
        above = body[found.at - 1]
        yield Button(f"move before {above.id}", "Move up")
        if isinstance(above, Choice) and len(above.arms) == 1:
            yield Button(f"move last_in {above.arms[0].id}", _into("above", above.arms[0]))
    if found.at + 1 < len(body):
        below = body[found.at + 1]
        yield Button(f"move after {below.id}", "Move down")
        if isinstance(below, Choice) and len(below.arms) == 1:
            yield Button(f"move first_in {below.arms[0].id}", _into("below", below.arms[0]))
    owner = outline.found.get(found.body.removesuffix(OTHERWISE))
    if owner is not None:
        over = owner.body if isinstance(owner.thing, Arm) else owner.thing.id
        what = "loop" if isinstance(owner.thing, Loop) else "condition"
        if found.at == 0:
            yield Button(f"move before {over}", f"Move before the {what}")
        if found.at + 1 == len(body):
            yield Button(f"move after {over}", f"Move behind the {what}")


def _into(where: str, arm: Arm) -> str:
    return f"Move into the condition {where}: {guard_in_words(arm.guard)}"


def _arm_moves(outline: Outline, found: Found) -> Iterator[Button]:
    arms = outline.choice_of(found).arms
    if found.at:
        yield Button(f"move before {arms[found.at - 1].id}", "Ask it earlier")
    if found.at + 1 < len(arms):
        yield Button(f"move after {arms[found.at + 1].id}", "Ask it later")


def _hanging(outline: Outline, found: Found) -> str:
    """What somebody must have answered to come to it, as far as the program is nested."""
    told = []
    chain = [*found.above, found.thing.id]
    for id_, following in pairwise(chain):
        over = outline.found[id_].thing
        if isinstance(over, Arm):
            told.append(f"if {guard_in_words(over.guard)}")
        elif isinstance(over, Loop):
            told.append(f"again until {guard_in_words(over.until)}")
        elif outline.found[following].body == f"{id_}{OTHERWISE}":
            told.append(f"if not: {text_of(over)}")
    root = outline.found[chain[0]].body
    if root != START:
        told.insert(0, f"in {body_in_words(outline, root)}")
    return ", ".join(told)


def _near(outline: Outline, found: Found) -> Iterator[Named]:
    """What it is in, what is beside it and what is directly below it."""
    around = [found.above[-1]] if found.above else []
    if isinstance(found.thing, Arm):
        around += [arm.id for arm in outline.choice_of(found).arms]
    else:
        body = outline.bodies[found.body]
        around += [node.id for node in body[max(0, found.at - 2) : found.at + 3]]
    around += [node.id for body in _below(found.thing) for node in body]
    if isinstance(found.thing, Choice):
        around += [arm.id for arm in found.thing.arms]
    for id_ in dict.fromkeys(around):
        if id_ != found.thing.id:
            yield Named(id_, _first(named(outline, outline.found[id_].thing)))


def _new_places(outline: Outline, found: Found) -> Iterator[Named]:
    thing = found.thing
    if isinstance(thing, Arm):
        yield Named(f"last_in {thing.id}", "under it, at the end")
        yield Named(f"first_in {thing.id}", "under it, at the beginning")
        choice: Choice | None = outline.choice_of(found)
    else:
        yield Named(f"after {thing.id}", "after it")
        yield Named(f"before {thing.id}", "before it")
        choice = thing if isinstance(thing, Choice) else None
        if isinstance(thing, Loop):
            yield Named(f"last_in {thing.id}", "in the loop, at the end")
    if choice is None:
        return
    if not isinstance(thing, Arm):
        for arm in choice.arms:
            yield Named(f"last_in {arm.id}", f"under {guard_in_words(arm.guard)}, at the end")
    else:
        yield Named(f"after {choice.id}", "behind the condition")
        yield Named(f"before {choice.id}", "before the condition")
    yield Named(f"last_in {choice.id}{OTHERWISE}", "where the condition does not hold")


def _through(outline: Outline, found: Found) -> Iterator[Named]:
    for node in outline.bodies[found.body][found.at :]:
        yield Named(node.id, _first(named(outline, node)))


def _places(outline: Outline, moved: Found) -> Iterator[Named]:
    """Every place in the procedure in the order of the text, but for those in what is moved."""
    for name in outline.procedure.bodies:
        yield from _places_in(outline, name, moved.thing.id, 0)
    for name in ("verification", "escalation"):
        if not outline.bodies[name]:
            yield Named(f"first_in {name}", f"in {body_in_words(outline, name)}")


def _places_in(outline: Outline, name: str, moved: str, depth: int) -> Iterator[Named]:
    body = outline.bodies[name]
    if not body and depth == 0:
        return
    indent = _INDENT * depth
    yield Named(f"first_in {name}", f"{indent}first in {body_in_words(outline, name)}")
    for node in body:
        if node.id == moved:
            continue
        if isinstance(node, Choice):
            for arm in node.arms:
                yield from _places_in(outline, arm.id, moved, depth + 1)
            yield from _places_in(outline, f"{node.id}{OTHERWISE}", moved, depth + 1)
        elif isinstance(node, Loop):
            yield from _places_in(outline, node.id, moved, depth + 1)
        yield Named(f"after {node.id}", f"{indent}after {named(outline, node)}")


def _targets(outline: Outline) -> Iterator[Named]:
    for name, body in outline.procedure.bodies.items():
        if body:
            words = "the beginning" if name == START else body_in_words(outline, name)
            yield Named(name, _first(words))
    for id_, found in outline.found.items():
        if not isinstance(found.thing, Arm | Remark | Jump):
            yield Named(id_, f"{_INDENT * len(found.above)}{_first(named(outline, found.thing))}")


def _is_jumped_to(outline: Outline, found: Found) -> bool:
    inside = {found.thing.id} | {
        id_ for id_, each in outline.found.items() if found.thing.id in each.above
    }
    return any(jump.target in inside and jump.id not in inside for jump in outline.jumps())


def told_lines(lines: Sequence[str], ranges: Sequence[LineRange]) -> list[tuple[int, str, bool]]:
    """Lines of the page around those that say a step: number, text, whether it is one of them."""
    own = {number for first, last in ranges for number in range(first, min(last, len(lines)) + 1)}
    near = {
        number
        for each in own
        for number in range(each - _LINES_AROUND, each + _LINES_AROUND + 1)
        if 1 <= number <= len(lines)
    }
    return [(number, lines[number - 1], number in own) for number in sorted(near)]


def _first(text: str) -> str:
    return text[:1].upper() + text[1:]
