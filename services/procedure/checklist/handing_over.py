"""Boxes that tell their reader to give the work to somebody else."""

import re
from collections.abc import Iterable, Iterator

from services.knowledge.page.block import Block, codes
from services.language.clauses import condition
from services.language.cues import escalates, otherwise
from services.language.sentences import sentences, without_prefix

_NEXT_CLAUSE = re.compile(r"(?:\s|[,;:]\s)(?:and|or|then|but)\s+(?:then\s+)?|[;:]\s+|\s[—–]\s")


def hands_over(blocks: Iterable[Block]) -> bool:
    """Return whether any of the blocks tells to escalate, page, or open a case with somebody.

    Also where that is said under a condition, or behind something else that is to be done.
    """
    return any(escalates(clause) for block in blocks for clause in _clauses(block))


def _clauses(block: Block) -> Iterator[str]:
    for sentence in sentences(block.text, codes(block.words)):
        under = condition(sentence)
        parts = (under.action, under.alternative) if under else (otherwise(sentence) or sentence,)
        for part in parts:
            yield from (without_prefix(each.strip()) for each in _NEXT_CLAUSE.split(part))
