"""Nodes, places and changes of nodes in words, for the description of an edit."""

from collections.abc import Iterator

from services.runbook.editing.outline import Outline
from services.runbook.model import (
    ESCALATION,
    OTHERWISE,
    START,
    VERIFICATION,
    Arm,
    Choice,
    Do,
    End,
    Jump,
    Loop,
    Node,
    Noted,
    Remark,
)
from services.runbook.words import ENDS, MODES, guard_in_words, quoted, text_of

_BODIES = {
    START: "the main steps",
    VERIFICATION: "the verification",
    ESCALATION: "the escalation",
}


def subject_phrase(outline: Outline, thing: Node | Arm) -> str:
    """Return a phrase that names the node as the subject of a sentence."""
    match thing:
        case Do():
            return quoted(thing.text)
        case Jump():
            return f"the jump to {target_in_words(outline, thing.target)}"
        case Loop():
            return f"what is repeated until {guard_in_words(thing.until)}"
        case Choice() | Arm():
            kind = "condition" if isinstance(thing, Arm) or len(thing.arms) == 1 else "choice"
            kind = "question" if isinstance(thing, Choice) and thing.question else kind
            text = text_of(thing)
            is_quoted = text.startswith(("“", "not ", "("))
            return f"the {kind} {text if is_quoted else quoted(text)}"
    kind = "end" if isinstance(thing, End) else "note"
    return f"the {kind} {quoted(text_of(thing))}"


def target_in_words(outline: Outline, target: str) -> str:
    """Describe the target of a jump."""
    location = outline.locations.get(target)
    if location is not None:
        return subject_phrase(outline, location.thing)
    return "the beginning" if target == START else body_in_words(outline, target)


def body_in_words(outline: Outline, name: str) -> str:
    """Describe a body by the node or arm that it belongs to."""
    if name in _BODIES:
        return _BODIES[name]
    location = outline.locations.get(name.removesuffix(OTHERWISE))
    if location is None:
        return f"the part {quoted(name)}"
    if name.endswith(OTHERWISE):
        return f"what is done when {subject_phrase(outline, location.thing)} does not hold"
    if isinstance(location.thing, Loop):
        return subject_phrase(outline, location.thing)
    return f"what is done when {guard_in_words(getattr(location.thing, 'guard', None))} holds"


def otherwise_in_words(outline: Outline, choice: Choice) -> str:
    """Describe what is done if no condition of the choice holds."""
    body = choice.otherwise
    if body is None:
        return "the page says nothing"
    if not body:
        return "nothing is done and the program goes on"
    first = body[0]
    if len(body) == 1 and isinstance(first, End):
        ending = f": {quoted(first.text)}" if first.text else ""
        return f"the path {ENDS[first.kind]}{ending}"
    if len(body) == 1 and isinstance(first, Jump):
        return f"the program goes on at {target_in_words(outline, first.target)}"
    return f"this is done: {', '.join(quoted(text_of(node)) for node in body)}"


def describe_changes(before: Node | Arm, now: Node | Arm, outline: Outline) -> list[str]:
    """Describe how a node differs from its earlier version.

    `outline` is of the procedure that has it now.
    """
    words: list[str] = []
    if isinstance(before, Do | End | Remark) and isinstance(now, Do | End | Remark):
        words += _text_changes(before, now)
    match before, now:
        case Do(), Do():
            if before.expected != now.expected:
                words.append("other output is expected")
            essential = "now essential" if now.core else "no longer essential"
            words += [essential] if before.core != now.core else []
        case End(), End() if before.kind != now.kind:
            words.append(f"now the path {ENDS[now.kind]}")
        case Jump(), Jump() if before.target != now.target:
            words.append(f"now goes on at {target_in_words(outline, now.target)}")
        case Choice(), Choice():
            words += _choice_changes(before, now, outline)
    words += filter(None, [describe_guard_change(before, now)])
    if before.lines != now.lines:
        words.append(
            "now stands on other lines" if now.lines else "no line of the page says it now"
        )
    if isinstance(before, Noted) and isinstance(now, Noted):
        words += [f"new note {quoted(n.text)}" for n in now.notes if n not in before.notes]
        words += [
            f"no longer has the note {quoted(n.text)}" for n in before.notes if n not in now.notes
        ]
    return words


def describe_guard_change(before: Node | Arm, now: Node | Arm) -> str:
    """Describe how an arm's condition or a loop's end differs; empty if it does not."""
    if isinstance(before, Arm) and isinstance(now, Arm) and before.guard != now.guard:
        return f"is now {guard_in_words(now.guard)}"
    if isinstance(before, Loop) and isinstance(now, Loop) and before.until != now.until:
        return f"now ends when {guard_in_words(now.until)}"
    return ""


def _text_changes(before: Do | End | Remark, now: Do | End | Remark) -> Iterator[str]:
    if before.text != now.text:
        yield f"now reads {quoted(now.text)}"
    if isinstance(before, Remark) or isinstance(now, Remark):
        return
    yield from (f"command removed: {each}" for each in before.commands if each not in now.commands)
    yield from (f"command added: {each}" for each in now.commands if each not in before.commands)
    if before.commands != now.commands and set(before.commands) == set(now.commands):
        yield "commands in another order"


def _choice_changes(before: Choice, now: Choice, outline: Outline) -> Iterator[str]:
    if before.question != now.question:
        yield f"now asks {quoted(now.question)}"
    if before.mode != now.mode:
        yield f"its conditions are tried {MODES[now.mode]}"
    if before.otherwise != now.otherwise and not (before.otherwise and now.otherwise):
        yield f"when none holds, {otherwise_in_words(outline, now)}"
