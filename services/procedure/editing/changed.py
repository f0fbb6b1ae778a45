"""What is different about a node in itself, in words; what is below it is told of its own nodes."""

from collections.abc import Iterator

from services.procedure.editing.program import Outline
from services.procedure.editing.words import (
    ENDS,
    MODES,
    guard_in_words,
    otherwise_in_words,
    quoted,
    target_in_words,
)
from services.procedure.model import Arm, Choice, Do, End, Jump, Loop, Node, Remark


def changed_words(before: Node | Arm, now: Node | Arm, outline: Outline) -> list[str]:
    """How a node differs from what it was; `outline` is of the procedure that has it now."""
    words = [*_texts(before, now), *_commands(before, now)]
    match before, now:
        case Do(), Do():
            words += _of_step(before, now)
        case End(), End() if before.kind != now.kind:
            words.append(f"now the path {ENDS[now.kind]}")
        case Jump(), Jump() if before.target != now.target:
            words.append(f"now goes on at {target_in_words(outline, now.target)}")
        case Choice(), Choice():
            words += _of_choice(before, now, outline)
    if told := guard_words(before, now):
        words.append(told)
    if before.lines != now.lines:
        words.append("other lines say it" if now.lines else "no lines say it any more")
    return words


def guard_words(before: Node | Arm, now: Node | Arm) -> str:
    """How the condition of an arm, or the end of a loop, differs; empty where it does not."""
    if isinstance(before, Arm) and isinstance(now, Arm) and before.guard != now.guard:
        return f"is now {guard_in_words(now.guard)}"
    if isinstance(before, Loop) and isinstance(now, Loop) and before.until != now.until:
        return f"now ends when {guard_in_words(now.until)}"
    return ""


def _texts(before: Node | Arm, now: Node | Arm) -> Iterator[str]:
    told = Do | Remark | End
    if isinstance(before, told) and isinstance(now, told) and before.text != now.text:
        yield f"reads {quoted(now.text)}, before {quoted(before.text)}"


def _commands(before: Node | Arm, now: Node | Arm) -> Iterator[str]:
    if not isinstance(before, Do | End) or not isinstance(now, Do | End):
        return
    yield from (f"command removed: {each}" for each in before.commands if each not in now.commands)
    yield from (f"command added: {each}" for each in now.commands if each not in before.commands)
    if before.commands != now.commands and set(before.commands) == set(now.commands):
        yield "commands in another order"


def _of_step(before: Do, now: Do) -> Iterator[str]:
    if before.expected != now.expected:
        yield "other output is expected"
    if before.core != now.core:
        yield "now essential" if now.core else "no longer essential"


def _of_choice(before: Choice, now: Choice, outline: Outline) -> Iterator[str]:
    if before.question != now.question:
        yield f"asks {quoted(now.question)}, before {quoted(before.question)}"
    if before.mode != now.mode:
        yield f"its conditions are tried {MODES[now.mode]}"
    if before.otherwise != now.otherwise and not (before.otherwise and now.otherwise):
        yield f"when none holds, {otherwise_in_words(outline, now)}"
