"""What a sentence makes an engineer decide: the question, and where each answer leads."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from services.knowledge.document.markdown import Block
from services.knowledge.model import Span
from services.planner.code import commands_of, expected_of
from services.planner.draft import Ask, Do, Element, End, GoTo
from services.planner.sentences import (
    Condition,
    condition,
    ends_path,
    goes_on,
    is_check,
    is_imperative,
    is_otherwise,
    jump,
    lead,
    question,
)

_ANSWER = re.compile(
    r"^(?:if\s+)?(?P<answer>yes|no(?=\s*(?:[,:.;–—→⇒]|[=-]+>|-+\s)))\b"
    r"(?:\s*(?:[,:.;–—→⇒]|[=-]+>|-+(?=\s)))*\s*(?P<action>\S.*)$",
    re.IGNORECASE,
)
_MOST_CONDITIONS_PER_STEP = 2


def decision(stated: Condition, span: tuple[Span, ...], blocks: Sequence[Block] = ()) -> Ask:
    """The question that a condition puts; `blocks` show how to do what is told."""
    action, alternative = stated.action, stated.alternative
    yes = taken(action, span, blocks)
    other = condition(alternative) if alternative else None
    if other:
        no: tuple[Element, ...] = (decision(replace(other, alternative=""), span),)
    elif yes and isinstance(yes[-1], End):
        # One case goes on, else the steps that follow on the page would belong to neither.
        no = () if not alternative or goes_on(alternative) else (Do(lead(alternative), span),)
    else:
        no = taken(alternative, span, ())
    asked = question(stated.condition, words=16)
    shown = () if action else blocks  # of a question that only No answers, how to find out
    return Ask(asked, yes, no, span, commands_of(shown), expected_of(shown))


def taken(action: str, span: tuple[Span, ...], blocks: Sequence[Block]) -> tuple[Element, ...]:
    """What to do in one case; the path ends there, or leads elsewhere, where the page says so."""
    found = jump(action)
    before, jumps = (found[0], (_go_to(found[1], span),)) if found else (action, ())
    if not before or goes_on(before):
        return jumps
    make = End if ends_path(before) and not jumps else Do
    return (make(lead(before), span, commands_of(blocks), expected_of(blocks)), *jumps)


def told(sentence: str, span: tuple[Span, ...], commands: tuple[str, ...]) -> Iterator[Element]:
    """The step that a sentence tells, and the jump that it ends in."""
    before, number = jump(sentence) or (sentence, 0)
    if before:
        yield Do(lead(before), span, commands)
    if number:
        yield _go_to(number, span)


def _go_to(number: int, span: tuple[Span, ...]) -> GoTo:
    return GoTo(number, f"Go to step {number}", span)


def conditions(
    texts: Sequence[str], span: tuple[Span, ...], *, told_to_do: bool
) -> Iterator[Element]:
    """Decisions among the sentences; with `told_to_do` only those that lead to an action.

    At most two, beside those that lead to another step.
    """
    found = 0
    for index, text in enumerate(texts):
        following = texts[index + 1] if index + 1 < len(texts) else ""
        stated = condition(text, following)
        if stated and (is_told(stated.told) or not told_to_do):
            found += jump(stated.action) is None
            yield decision(stated, span)
        if found >= _MOST_CONDITIONS_PER_STEP:
            return


def is_told(action: str) -> bool:
    """Whether somebody is told to do something, or to go elsewhere."""
    return is_imperative(action) or jump(action) is not None


def leads_elsewhere(said: Sequence[str], span: tuple[Span, ...]) -> Iterator[GoTo]:
    """The jump that a step ends in, whatever is found."""
    last = said[-1] if said else ""
    found = None if condition(last) or is_otherwise(last) else jump(last)
    if found:
        yield _go_to(found[1], span)


def asks(sentence: str) -> bool:
    """Whether yes or no answers it, be it a question or `check whether …`."""
    return sentence.endswith("?") or is_check(sentence)


def answers(block: Block) -> dict[str, str]:
    """What a list says to do, by `yes` and `no`."""
    said = (_ANSWER.match(item.text) for item in block.items)
    return {m["answer"].lower(): m["action"] for m in said if m}


def ask(
    sentence: str, answered: Mapping[str, str], span: tuple[Span, ...], blocks: Sequence[Block] = ()
) -> Ask:
    """A question with what to do on each answer; `blocks` show how to find the answer."""
    yes, no = (taken(answered.get(answer, ""), span, ()) for answer in ("yes", "no"))
    asked = question(sentence, words=16)
    return Ask(asked, yes, no, span, commands_of(blocks), expected_of(blocks))
