"""View of a step for its forms: its content, its conditions, and the places it could go to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.runbook.editing.outline import Location, Outline
from services.runbook.editing.words import body_in_words, subject_phrase
from services.runbook.model import (
    OTHERWISE,
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
from services.runbook.program import with_ids
from services.runbook.words import guard_in_words, text_of
from services.web.ui.knowledge.readings.step_form import (
    StepForm,
    StepFormAction,
    condition_of,
    format_ranges,
    guard_fields,
    node_fields,
)
from services.web.ui.templates import capitalize_first

_INDENT = "· "
_LINES_AROUND = 2
_KINDS: dict[type, str] = {
    Do: "do",
    End: "end",
    Remark: "note",
    Jump: "goto",
    Choice: "choice",
    Loop: "repeat",
    Arm: "arm",
}


@dataclass(frozen=True)
class Button:
    """An action on a step that needs no form."""

    act: str
    label: str


@dataclass(frozen=True)
class StepMenu:
    """Actions on a step that need no form."""

    node: str
    buttons: tuple[Button, ...]


@dataclass(frozen=True)
class UndrawnNode:
    """A node of a procedure that is no step of its drawing."""

    node: str
    text: str
    lines: tuple[LineRange, ...]
    menu: StepMenu


@dataclass(frozen=True)
class SelectOption:
    """An option for a node or a place: the value to send, and its label."""

    value: str
    label: str


@dataclass(frozen=True)
class ShownNode:
    """The data of all forms of one step."""

    node: str
    kind: str
    """`do`, `end`, `note`, `goto`, `choice`, `repeat` or `arm`."""
    text: str
    lines: tuple[LineRange, ...]
    hanging: str
    """The conditions above it, in words."""
    near: tuple[SelectOption, ...]
    """Nodes around it."""
    menu: StepMenu
    can_say: bool
    """True if it has words of its own."""
    condition: str
    """The node whose condition the forms change; empty if there is none."""
    over: tuple[str, ...]
    """Texts of the nodes under that condition."""
    is_free: bool
    """True if that condition can be negated and removed; an answer to a question cannot."""
    is_mixed: bool
    """True if the condition mixes kinds, which no form can show."""
    has_otherwise: bool
    after: tuple[SelectOption, ...]
    """Places for a new node."""
    through: tuple[SelectOption, ...]
    """The node and those after it in its body: one condition can cover a run of them."""
    places: tuple[SelectOption, ...]
    """Places that it may be moved to."""
    targets: tuple[SelectOption, ...]
    """Targets of jumps."""
    has_below: bool
    is_jumped_to: bool
    forms: dict[str, StepForm]
    """Initial fields of each form, by its action."""


def build_menu(outline: Outline, id_: str) -> StepMenu:
    """Build the menu of a node or arm."""
    location = outline.locations[id_]
    buttons: list[Button] = []
    if isinstance(location.thing, Arm) and len(arms := outline.choice_of(location).arms) > 1:
        if location.at:
            buttons.append(Button(f"move before {arms[location.at - 1].id}", "Ask it earlier"))
        if location.at + 1 < len(arms):
            buttons.append(Button(f"move after {arms[location.at + 1].id}", "Ask it later"))
    else:
        buttons += _move_buttons(outline, outline.node(id_))
    if isinstance(outline.locations.get(location.body, location).thing, Arm) and not isinstance(
        location.thing, Arm
    ):
        buttons.append(Button(StepFormAction.REMOVE.value, "Do it always"))
    buttons.append(Button(StepFormAction.DELETE.value, "Delete"))
    return StepMenu(id_, tuple(buttons))


def undrawn_nodes(procedure: Procedure, shown: set[str]) -> Iterator[UndrawnNode]:
    """Yield the nodes that a drawing lacks: notes, jumps, and steps that no path reaches."""
    outline = Outline(with_ids(procedure))
    for id_, location in outline.locations.items():
        thing = location.thing
        is_step = isinstance(thing, Do | End)
        if isinstance(thing, Remark | Jump) or (is_step and id_ not in shown):
            yield UndrawnNode(
                id_,
                capitalize_first(subject_phrase(outline, thing)),
                thing.lines,
                build_menu(outline, id_),
            )


def build_node_view(outline: Outline, id_: str, typed: StepForm | None) -> ShownNode:
    """Build the view of a node for its forms; a form that was sent keeps what was typed in it.

    Raises:
        UnknownNodeError: The procedure has no such node.
    """
    location = outline[id_]
    thing = location.thing
    node = (
        outline.node(id_)
        if (not isinstance(location.thing, Arm) or len(outline.choice_of(location).arms) == 1)
        else location
    )
    conditional = condition_of(outline, location)
    choice = thing if isinstance(thing, Choice) else None
    if isinstance(conditional, Arm):
        choice = outline.choice_of(outline.locations[conditional.id])
    forms = _forms(location, conditional, choice)
    if typed is not None:
        forms[typed.act.value] = typed
    is_node = not isinstance(node.thing, Arm)
    return ShownNode(
        node=thing.id,
        kind=_KINDS.get(type(thing), "arm"),
        text=text_of(thing),
        lines=thing.lines,
        hanging=_describe_conditions(outline, location),
        near=tuple(_neighbours(outline, location)),
        menu=build_menu(outline, thing.id),
        can_say=bool(thing.question)
        if isinstance(thing, Choice)
        else not isinstance(thing, Arm | Loop),
        condition=conditional.id if conditional else "",
        over=tuple(text_of(each) for each in conditional.body) if conditional else (),
        is_free=conditional.guard is not None and choice is not None and not choice.question
        if isinstance(conditional, Arm)
        else conditional is not None,
        is_mixed=conditional is not None and guard_fields(_guard_of(conditional)) is None,
        has_otherwise=choice is not None,
        after=tuple(_new_places(outline, location)),
        through=tuple(
            SelectOption(each.id, capitalize_first(subject_phrase(outline, each)))
            for each in outline.bodies[node.body][node.at :]
        )
        if is_node
        else (),
        places=tuple(_move_places(outline, node)) if is_node else (),
        targets=tuple(_jump_targets(outline)),
        has_below=any(_child_bodies(thing)),
        is_jumped_to=_is_jumped_to(outline, location),
        forms=forms,
    )


def _guard_of(conditional: Arm | Loop) -> Guard | None:
    return conditional.guard if isinstance(conditional, Arm) else conditional.until


def _child_bodies(thing: Node | Arm) -> list[Body]:
    return [thing.body] if isinstance(thing, Arm) else bodies_of(thing)


def _forms(
    location: Location, conditional: Arm | Loop | None, choice: Choice | None
) -> dict[str, StepForm]:
    fields_by_action = {
        StepFormAction.SAY: node_fields(location.thing),
        StepFormAction.OTHERWISE: _otherwise_fields(choice) if choice else {},
    }
    if conditional is not None:
        fields_by_action[StepFormAction.CHANGE] = {
            **(guard_fields(_guard_of(conditional)) or {}),
            "lines": format_ranges(conditional.lines),
        }
    base = {"node": location.thing.id}
    return {
        act.value: StepForm.model_validate(
            {**base, "act": act.value, **fields_by_action.get(act, {})}
        )
        for act in StepFormAction
    }


def _otherwise_fields(choice: Choice) -> dict[str, str]:
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


def _move_buttons(outline: Outline, location: Location) -> Iterator[Button]:
    """Yield the moves past a neighbour, into its condition, and out of the node's own."""
    body = outline.bodies[location.body]
    if location.at:
        above = body[location.at - 1]
        yield Button(f"move before {above.id}", "Move up")
        if isinstance(above, Choice) and len(above.arms) == 1:
            yield Button(
                f"move last_in {above.arms[0].id}", _move_into_label("above", above.arms[0])
            )
    if location.at + 1 < len(body):
        below = body[location.at + 1]
        yield Button(f"move after {below.id}", "Move down")
        if isinstance(below, Choice) and len(below.arms) == 1:
            yield Button(
                f"move first_in {below.arms[0].id}", _move_into_label("below", below.arms[0])
            )
    owner = outline.locations.get(location.body.removesuffix(OTHERWISE))
    if owner is not None:
        over = owner.body if isinstance(owner.thing, Arm) else owner.thing.id
        what = "loop" if isinstance(owner.thing, Loop) else "condition"
        if location.at == 0:
            yield Button(f"move before {over}", f"Move before the {what}")
        if location.at + 1 == len(body):
            yield Button(f"move after {over}", f"Move behind the {what}")


def _move_into_label(where: str, arm: Arm) -> str:
    return f"Move into the condition {where}: {guard_in_words(arm.guard)}"


def _describe_conditions(outline: Outline, location: Location) -> str:
    """Describe the answers that lead to a node, through all levels of nesting."""
    conditions = []
    chain = [*location.above, location.thing.id]
    for id_, following in pairwise(chain):
        over = outline.locations[id_].thing
        if isinstance(over, Arm):
            conditions.append(f"if {guard_in_words(over.guard)}")
        elif isinstance(over, Loop):
            conditions.append(f"again until {guard_in_words(over.until)}")
        elif outline.locations[following].body == f"{id_}{OTHERWISE}":
            conditions.append(f"if not: {text_of(over)}")
    root = outline.locations[chain[0]].body
    if root != START:
        conditions.insert(0, f"in {body_in_words(outline, root)}")
    return ", ".join(conditions)


def _neighbours(outline: Outline, location: Location) -> Iterator[SelectOption]:
    """Yield the node's parent, the nodes beside it and its direct children."""
    ids = [location.above[-1]] if location.above else []
    if isinstance(location.thing, Arm):
        ids += [arm.id for arm in outline.choice_of(location).arms]
    else:
        body = outline.bodies[location.body]
        ids += [node.id for node in body[max(0, location.at - 2) : location.at + 3]]
    ids += [node.id for body in _child_bodies(location.thing) for node in body]
    if isinstance(location.thing, Choice):
        ids += [arm.id for arm in location.thing.arms]
    for id_ in dict.fromkeys(ids):
        if id_ != location.thing.id:
            yield SelectOption(
                id_, capitalize_first(subject_phrase(outline, outline.locations[id_].thing))
            )


def _new_places(outline: Outline, location: Location) -> Iterator[SelectOption]:
    thing = location.thing
    if isinstance(thing, Arm):
        yield SelectOption(f"last_in {thing.id}", "under it, at the end")
        yield SelectOption(f"first_in {thing.id}", "under it, at the beginning")
        choice: Choice | None = outline.choice_of(location)
    else:
        yield SelectOption(f"after {thing.id}", "after it")
        yield SelectOption(f"before {thing.id}", "before it")
        choice = thing if isinstance(thing, Choice) else None
        if isinstance(thing, Loop):
            yield SelectOption(f"last_in {thing.id}", "in the loop, at the end")
    if choice is None:
        return
    if not isinstance(thing, Arm):
        for arm in choice.arms:
            yield SelectOption(
                f"last_in {arm.id}", f"under {guard_in_words(arm.guard)}, at the end"
            )
    else:
        yield SelectOption(f"after {choice.id}", "behind the condition")
        yield SelectOption(f"before {choice.id}", "before the condition")
    yield SelectOption(f"last_in {choice.id}{OTHERWISE}", "where the condition does not hold")


def _move_places(outline: Outline, moved: Location) -> Iterator[SelectOption]:
    """Yield every place in the procedure, in the order of its text, but none in the moved node."""
    for name in outline.procedure.bodies:
        yield from _places_in(outline, name, moved.thing.id, 0)
    for name in ("verification", "escalation"):
        if not outline.bodies[name]:
            yield SelectOption(f"first_in {name}", f"in {body_in_words(outline, name)}")


def _places_in(outline: Outline, name: str, moved: str, depth: int) -> Iterator[SelectOption]:
    body = outline.bodies[name]
    if not body and depth == 0:
        return
    indent = _INDENT * depth
    yield SelectOption(f"first_in {name}", f"{indent}first in {body_in_words(outline, name)}")
    for node in body:
        if node.id == moved:
            continue
        if isinstance(node, Choice):
            for arm in node.arms:
                yield from _places_in(outline, arm.id, moved, depth + 1)
            yield from _places_in(outline, f"{node.id}{OTHERWISE}", moved, depth + 1)
        elif isinstance(node, Loop):
            yield from _places_in(outline, node.id, moved, depth + 1)
        yield SelectOption(f"after {node.id}", f"{indent}after {subject_phrase(outline, node)}")


def _jump_targets(outline: Outline) -> Iterator[SelectOption]:
    for name, body in outline.procedure.bodies.items():
        if body:
            words = "the beginning" if name == START else body_in_words(outline, name)
            yield SelectOption(name, capitalize_first(words))
    for id_, location in outline.locations.items():
        if not isinstance(location.thing, Arm | Remark | Jump):
            yield SelectOption(
                id_,
                _INDENT * len(location.above)
                + capitalize_first(subject_phrase(outline, location.thing)),
            )


def _is_jumped_to(outline: Outline, location: Location) -> bool:
    inside = {location.thing.id} | {
        id_ for id_, each in outline.locations.items() if location.thing.id in each.above
    }
    return any(jump.target in inside and jump.id not in inside for jump in outline.jumps())


def lines_with_context(
    lines: Sequence[str], ranges: Sequence[LineRange]
) -> list[tuple[int, str, bool]]:
    """Return the cited lines with their context: number, text, and whether the line is cited."""
    own = {number for first, last in ranges for number in range(first, min(last, len(lines)) + 1)}
    near = {
        number
        for each in own
        for number in range(each - _LINES_AROUND, each + _LINES_AROUND + 1)
        if 1 <= number <= len(lines)
    }
    return [(number, lines[number - 1], number in own) for number in sorted(near)]
