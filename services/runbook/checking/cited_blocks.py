"""Blocks that a step cites, and whether they forbid what it does."""

from collections.abc import Iterable, Iterator, Sequence

from services.knowledge.page.block import Block, BlockKind
from services.language.names import words_of
from services.language.sentences import sentences
from services.language.states import negates
from services.language.words import stem
from services.runbook.model import LineRange
from services.runbook.program import line_numbers

_WHOLE = frozenset({BlockKind.CALLOUT, BlockKind.CODE, BlockKind.TABLE})
_WORDS_AFTER_NOT = 2


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
    """Return True if the blocks have a negation right before the step's verb, and the step none."""
    if negates(step):
        return False
    tokens = words_of(step)
    verb = stem(tokens[0].lower()) if tokens else ""
    for block in cited:
        for sentence in sentences(block.text):
            page_tokens = words_of(sentence)
            verbs = [n for n, word in enumerate(page_tokens) if stem(word.lower()) == verb]
            if verbs and all(
                negates(" ".join(page_tokens[max(0, n - _WORDS_AFTER_NOT) : n])) for n in verbs
            ):
                return True
    return False
