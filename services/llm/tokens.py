"""How many tokens a text takes, roughly."""

from collections.abc import Iterable

CHARACTERS_PER_TOKEN = 3.5
"""Of operation documents, commands included; a tokenizer of its own for each model is not needed to
stay under a limit."""


def estimated(texts: Iterable[str]) -> int:
    """Tokens of the texts together, whichever the model."""
    return int(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)
