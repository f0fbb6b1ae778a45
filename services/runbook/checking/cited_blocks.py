"""Blocks that a step cites, and whether they forbid what it does."""

import re
from collections.abc import Iterable, Iterator, Sequence

from services.knowledge.page.block import Block, BlockKind
from services.language.names import words_of
from services.language.sentences import sentences
from services.language.states import negates
from services.language.words import stem, tokenise
from services.runbook.model import LineRange
from services.runbook.program import line_numbers

_WHOLE = frozenset({BlockKind.CALLOUT, BlockKind.CODE, BlockKind.TABLE})
_TOKEN = re.compile(r"[\w'-]+|[^\w\s]")
_NEGATIONS = frozenset(
    {"not", "never", "cannot", "don't", "mustn't", "shouldn't", "can't", "without"}
)
_LEAST_SHARE = 0.5
"""Share of a step's words that the sentence has."""
_MODALS = frozenset({"do", "must", "should", "shall", "may", "can", "to"})


def cited_blocks(lines: Sequence[LineRange], blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks whose own lines are cited, of nested ones the outermost that is whole."""
    numbers = line_numbers(lines)
    behind = 0
    for block in blocks:
        if block.kind not in _WHOLE and not block.words:
            continue  # a list or tab, whose parts are cited themselves
        last = block.end_line if block.kind in _WHOLE else block.own_end
        own = range(block.start_line, last + 1)
        if block.start_line > behind and not numbers.isdisjoint(own):
            yield block
            behind = last if block.kind in _WHOLE else behind


def is_forbidden(step: str, cited: Iterable[Block]) -> bool:
    """Return True if the blocks forbid what a step begins with, and tell it nowhere."""
    if negates(step):
        return False
    own = set(tokenise(step))
    tokens = words_of(step)
    verb = stem(tokens[0].lower()) if tokens else ""
    is_negated: list[bool] = []
    for sentence in (each for block in cited for each in sentences(block.text)):
        parts = _TOKEN.findall(sentence.lower().replace("’", "'"))
        is_of_step = len(own & set(tokenise(sentence))) >= _LEAST_SHARE * len(own)
        is_negated += [
            is_of_step and _is_negated(parts[:place])
            for place, part in enumerate(parts)
            if stem(part) == verb
        ]
    return bool(is_negated) and all(is_negated)


def _is_negated(before: Sequence[str]) -> bool:
    """Return True if words before a verb forbid it: `do not`, `must never`, `don't simply`."""
    words = [*before[:-1]] if before and before[-1].endswith("ly") else [*before]
    if not words or words[-1] not in _NEGATIONS:
        return False
    return words[-1] != "not" or words[-2:-1] == [] or words[-2] in _MODALS
