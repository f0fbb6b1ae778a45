"""What the words of a step give away: an order, a question, an end."""

import re

_CLOSING = re.compile(
    r"resolv|escalat|clear(?:s|ed)|close (?:the )?(?:ticket|incident|case|alert)"
    r"|support (?:case|team)|contact|hand over|persist|verify (?:that )?the",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?\s*$|^(?:is|are|was|were|does|do|did|has|have|had|can|could|will|should|which|what|how|who)\b",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether it asks."""
    return bool(_QUESTION.search(text.strip()))


def closes(text: str) -> bool:
    """Whether it says how the work ends."""
    return bool(_CLOSING.search(text))
