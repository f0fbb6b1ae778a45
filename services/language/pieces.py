"""Text cut at the ends of its sentences for looking up, fitting and screening.

`services.language.sentences` reads what is told as steps. Here nothing is read and every cut is of
use: what is looked up is parted at semicolons too, and what is screened keeps its spaces.
"""

import re
from itertools import pairwise

_LOOKED_UP_END = re.compile(r"(?<=[.!?;])\s+(?=[^a-z])|(?<=;)\s+")
_ANY_END = re.compile(r"(?<=[.!?;])\s+")
_SCREENED_END = re.compile(r"[.!?][\"')\]”»*_`]*\s+|[。！？।][\"')\]”»*_`]*\s*")
"""Of a sentence in any language, with the space after it."""


def statements(text: str) -> list[str]:
    """Sentences and what semicolons part, as sources are looked up by."""
    return _LOOKED_UP_END.split(text)


def cut_anywhere(text: str) -> list[str]:
    """Cut wherever a sentence may end, for text that must be cut somewhere."""
    return _ANY_END.split(text)


def with_spaces(text: str) -> list[str]:
    """The sentences, each with the space after it: together they are the text."""
    ends = [found.end() for found in _SCREENED_END.finditer(text)]
    bounds = [0, *ends, len(text)]
    return [text[a:b] for a, b in pairwise(bounds) if a < b]
