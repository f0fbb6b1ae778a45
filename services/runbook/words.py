"""Conditions and nodes of a procedure in words."""

from collections.abc import Callable

from services.runbook.model import (
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

_LONGEST_QUOTE = 120
ENDS = {
    EndKind.RESOLVED: "ends as resolved",
    EndKind.ESCALATE: "ends and is escalated",
    EndKind.OTHER_PAGE: "goes on with another page",
    EndKind.NOT_THIS_FAULT: "ends: this is another fault",
    EndKind.STOP: "ends here: the page has no more steps",
}
MODES = {
    Mode.EXCLUSIVE: "the first that holds",
    Mode.IN_ORDER: "one after the other until one helps",
    Mode.ANY: "each that holds",
    Mode.FREE: "as the engineer chooses",
    Mode.SEVERAL: "one or more, as the engineer chooses",
}


def quoted(text: str) -> str:
    """Return the text in quotes, cut if it is long."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= _LONGEST_QUOTE else f'{line[: _LONGEST_QUOTE - 1]}…'}”"


def guard_in_words(
    guard: Guard | None, *, quote: Callable[[str], str] = quoted, negation: str = "not "
) -> str:
    """Return the condition with its questions in quotes; `always` if there is none."""

    def inside(guard: Guard) -> str:
        return f"({words(guard)})" if isinstance(guard, All | Some) else words(guard)

    def words(guard: Guard) -> str:
        match guard:
            case State() | Outcome():
                return quote(guard.text)
            case Not():
                return f"{negation}{inside(guard.guard)}"
            case All() | Some():
                conjunction = " and " if isinstance(guard, All) else " or "
                return conjunction.join(map(inside, guard.guards))

    return "always" if guard is None else words(guard)


def text_of(thing: Node | Arm) -> str:
    """Return the text of a node or arm, in its own words as far as it has any."""
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
