"""What the words of a step give away: an order, a question, an end."""

import re
from functools import lru_cache

from services.knowledge.bm25 import split_name

_VERBS = """
    add adjust align allow apply assign attach bind build change check clean clear collect compare
    confirm contact create decrease define delete deploy describe determine disable drain edit
    enable ensure escalate evict examine execute expand extend find fix follow free gather get grant
    identify increase inject inspect install investigate issue label list log look lower make
    migrate monitor mount move note open patch populate provide provision raise read rebuild
    recreate reduce refer register reissue reload remove rename renew repair replace replay
    reschedule reset resize resolve restart restore retry return review revert roll rollback rotate
    run scale see set ship shrink sort start stop supply switch sync test trigger tune uncordon
    update upgrade use validate verify view wait
"""
_ORDERS = frozenset(_VERBS.split())
_CLOSING = re.compile(
    r"resolv|escalat|clear(?:s|ed)|close (?:the )?(?:ticket|incident|case|alert)"
    r"|support (?:case|team)|contact|hand over|persist|verify (?:that )?the",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?\s*$|^(?:is|are|was|were|does|do|did|has|have|had|can|could|will|should|which|what|how|who)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=16384)
def words_of(text: str) -> tuple[str, ...]:
    """The words in lower case and order, compounds in parts."""
    return tuple(split_name(text).lower().split())


def begins_with_verb(text: str) -> bool:
    """Whether it orders something: its first word is a verb of operations."""
    words = words_of(text)
    return bool(words) and words[0] in _ORDERS


def is_question(text: str) -> bool:
    """Whether it asks."""
    return bool(_QUESTION.search(text.strip()))


def closes(text: str) -> bool:
    """Whether it says how the work ends."""
    return bool(_CLOSING.search(text))
