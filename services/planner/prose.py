"""Paragraphs and the code below them: a step for each sentence that tells to do something."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.knowledge.document.markdown import Block, BlockKind
from services.knowledge.model import Span
from services.planner.article import Part
from services.planner.code import commands_of, expected_of, inline_commands
from services.planner.decisions import decision, is_told, told
from services.planner.draft import Ask, Do, Element, End, GoTo
from services.planner.sentences import condition, is_otherwise, joined, sentences

_PURPOSE = re.compile(r"^to\s+[a-z]+", re.IGNORECASE)


def paragraph_steps(part: Part, blocks: Sequence[Block]) -> list[Element]:
    """Prose with its code: a step for each sentence that tells to do something."""
    elements: list[Element] = []
    for index, block in enumerate(blocks):
        if block.kind is not BlockKind.PARAGRAPH:
            continue
        code = _code_after(blocks, index)
        end = code[-1].end_line if code else block.end_line
        span = (part.lines(block.start_line, end),)
        after = blocks[index + len(code) + 1 :]
        made = list(_sentence_steps(block, after, span, has_code=bool(code)))
        if code:
            made = _with_code(made, [block, *code])
        elements.extend(element for element in made if element.text)
    return elements


def _sentence_steps(
    block: Block, after: Sequence[Block], span: tuple[Span, ...], *, has_code: bool
) -> Iterator[Element]:
    parts = joined(sentences(block.text))
    beyond = sentences(after[0].text)[:1] if after else []
    codes = inline_commands(block)
    for index, sentence in enumerate(parts):
        if is_otherwise(sentence):
            continue
        stated = condition(sentence)
        if stated:
            stated = condition(sentence, _otherwise((*parts[index + 1 :], *beyond)))
        shows = has_code and index + 1 == len(parts)
        if stated and is_told(stated.told):
            shown = () if stated.action else (block,)
            yield decision(stated, span, shown)
        elif is_told(sentence) or (shows and _PURPOSE.match(sentence)):
            yield from told(sentence, span, tuple(each for each in codes if each in sentence))


def _otherwise(said: Sequence[str]) -> str:
    """What is to be done otherwise, where that is not said of another condition."""
    for sentence in said:
        if is_otherwise(sentence):
            return sentence
        if condition(sentence):
            break
    return ""


def _code_after(blocks: Sequence[Block], index: int) -> list[Block]:
    code: list[Block] = []
    for block in blocks[index + 1 :]:
        if block.kind is not BlockKind.CODE:
            break
        code.append(block)
    return code


def _with_code(elements: Sequence[Element], blocks: Sequence[Block]) -> list[Element]:
    """The elements, the last step among them with the commands."""
    for place in reversed(range(len(elements))):
        last = elements[place]
        if not isinstance(last, GoTo):
            return [*elements[:place], _shown(last, blocks), *elements[place + 1 :]]
    return list(elements)


def _shown(step: Do | Ask | End, blocks: Sequence[Block]) -> Element:
    if isinstance(step, Ask) and any(not isinstance(each, GoTo) for each in step.yes):
        return replace(step, yes=tuple(_with_code(step.yes, blocks)))
    return replace(step, commands=commands_of(blocks), expected=expected_of(blocks))
