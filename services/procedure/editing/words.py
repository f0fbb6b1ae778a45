"""Nodes, conditions and places in words, for whoever looks at an edit."""

from services.procedure.editing.program import OTHERWISE, Outline
from services.procedure.model import (
    ESCALATION,
    START,
    VERIFICATION,
    All,
    Arm,
    Choice,
    Do,
    End,
    EndKind,
    Guard,
    Jump,
    Loop,
    Mode,
    Node,
    Not,
    Outcome,
    Remark,
    Some,
    State,
)

_MOST_SHOWN = 120
_BODIES = {
    START: "the steps",
    VERIFICATION: "the verification",
    ESCALATION: "the escalation",
}
ENDS = {
    EndKind.RESOLVED: "ends as resolved",
    EndKind.ESCALATE: "ends and is escalated",
    EndKind.OTHER_PAGE: "goes on with another page",
    EndKind.NOT_THIS_FAULT: "ends: it is another fault",
}
MODES = {
    Mode.EXCLUSIVE: "the first that holds",
    Mode.IN_ORDER: "one after the other until one helps",
    Mode.ANY: "each that holds",
    Mode.FREE: "as the engineer chooses",
}


def quoted(text: str) -> str:
    """The text in quotes, cut where it is long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= _MOST_SHOWN else f'{line[: _MOST_SHOWN - 1]}…'}”"


def guard_in_words(guard: Guard | None) -> str:
    """The condition with its questions in quotes; `always` where there is none."""
    match guard:
        case State() | Outcome():
            return quoted(guard.text)
        case Not():
            inner = guard_in_words(guard.guard)
            return f"not ({inner})" if isinstance(guard.guard, All | Some) else f"not {inner}"
        case All() | Some():
            word = " and " if isinstance(guard, All) else " or "
            return word.join(
                f"({told})" if isinstance(each, All | Some) else told
                for each in guard.guards
                for told in [guard_in_words(each)]
            )
    return "always"


def text_of(thing: Node | Arm) -> str:
    """What it says, in its own words as far as it has any."""
    match thing:
        case Do() | Remark():
            return thing.text
        case End():
            return thing.text or f"The path {ENDS[thing.kind]}"
        case Jump():
            return f"Go on at {thing.target}"
        case Loop():
            return f"Again until {guard_in_words(thing.until)}"
        case Arm():
            return guard_in_words(thing.guard)
        case Choice():
            return thing.question or " / ".join(guard_in_words(arm.guard) for arm in thing.arms)


def named(outline: Outline, thing: Node | Arm) -> str:
    """It as the subject of a sentence."""
    match thing:
        case Do():
            return quoted(thing.text)
        case Jump():
            return f"the jump to {target_in_words(outline, thing.target)}"
        case Loop():
            return f"what is repeated until {guard_in_words(thing.until)}"
        case Choice() | Arm():
            return f"the {_asking(thing)} {_bare(text_of(thing))}"
    kind = "end" if isinstance(thing, End) else "note"
    return f"the {kind} {quoted(text_of(thing))}"


def _asking(thing: Choice | Arm) -> str:
    if isinstance(thing, Arm):
        return "condition"
    return "question" if thing.question else "choice" if len(thing.arms) > 1 else "condition"


def _bare(text: str) -> str:
    return text if text.startswith(("“", "not ", "(")) else quoted(text)


def target_in_words(outline: Outline, target: str) -> str:
    """Where a jump goes on."""
    found = outline.found.get(target)
    if found is not None:
        return named(outline, found.thing)
    return "the beginning" if target == START else body_in_words(outline, target)


def body_in_words(outline: Outline, name: str) -> str:
    """A body by what it is of."""
    if name in _BODIES:
        return _BODIES[name]
    found = outline.found.get(name.removesuffix(OTHERWISE))
    if found is None:
        return f"the part {quoted(name)}"
    if name.endswith(OTHERWISE):
        return f"what is done when {named(outline, found.thing)} does not hold"
    if isinstance(found.thing, Loop):
        return named(outline, found.thing)
    return f"what is done when {guard_in_words(getattr(found.thing, 'guard', None))} holds"


def otherwise_in_words(outline: Outline, choice: Choice) -> str:
    """What is done when no condition of the choice holds."""
    body = choice.otherwise
    if body is None:
        return "the page says nothing"
    if not body:
        return "nothing is done and the program goes on"
    first = body[0]
    if len(body) == 1 and isinstance(first, End):
        said = f": {quoted(first.text)}" if first.text else ""
        return f"the path {ENDS[first.kind]}{said}"
    if len(body) == 1 and isinstance(first, Jump):
        return f"the program goes on at {target_in_words(outline, first.target)}"
    return f"this is done: {', '.join(quoted(text_of(node)) for node in body)}"
