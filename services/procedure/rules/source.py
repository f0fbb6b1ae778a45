"""Which lines of a page say a sentence."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from services.knowledge.document.markdown import Block, MarkdownPage
from services.language.sentences import sentences
from services.procedure.model import LineRange

_LETTERS = re.compile(r"[^a-z0-9]+")
_LINK_TARGET = re.compile(r"\]\([^()]*(?:\([^()]*\)[^()]*)*\)|<[^<>]*>")
_LONGEST_KEY = 24
"""Letters that tell where a sentence begins and ends."""


@dataclass(frozen=True)
class Said:
    """A sentence and where it stands."""

    text: str
    lines: LineRange
    codes: tuple[str, ...] = ()
    """What is marked as code in it."""


def said_in(page: MarkdownPage, block: Block) -> list[Said]:
    """The sentences of a paragraph, each with its own lines."""
    texts = sentences(block.text, block.inline_code)
    codes = [tuple(code for code in block.inline_code if code in text) for text in texts]
    if block.start_line == block.end_line:
        here = (block.start_line, block.start_line)
        return [Said(text, here, each) for text, each in zip(texts, codes, strict=True)]
    places = _places(page, block, texts)
    return [Said(*each) for each in zip(texts, places, codes, strict=True)]


def _places(page: MarkdownPage, block: Block, texts: list[str]) -> Iterator[LineRange]:
    starts, letters = _letters_of(page, block)
    cursor = 0
    for text in texts:
        key = _key(text)
        first = letters.find(key[:_LONGEST_KEY], cursor)
        if first < 0 or not key:
            yield block.start_line, block.end_line
            continue
        tail = key[-_LONGEST_KEY:]
        last = letters.find(tail, max(first, first + len(key) - len(tail) - 2))
        end = last + len(tail) if last >= 0 else first + len(key)
        cursor = first + 1
        line = block.start_line + bisect_right(starts, first) - 1
        yield line, max(line, block.start_line + bisect_right(starts, max(end - 1, first)) - 1)


def _letters_of(page: MarkdownPage, block: Block) -> tuple[list[int], str]:
    """Where each line of the block begins among all its letters."""
    raw = page.text(block.start_line, block.end_line)
    lines = [_key(line) for line in _LINK_TARGET.sub("] ", raw).split("\n")]
    starts, length = [], 0
    for line in lines:
        starts.append(length)
        length += len(line)
    return starts, "".join(lines)


def _key(text: str) -> str:
    return _LETTERS.sub("", text.lower())


def merged(ranges: list[LineRange]) -> tuple[LineRange, ...]:
    """Line ranges in order, those that touch as one unless both are blocks of their own."""
    found: list[LineRange] = []
    for first, last in sorted(set(ranges)):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)
