"""Values of a ticket in words that people wrote on it: they become parameters for other tickets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"[^\s\"'`,;()<>|{}=]+")
_LEAST = 3
"""Fewest characters of a value that is one ticket's alone."""
_PLAIN = re.compile(r"[A-Za-z]+|\d{1,4}(?:\.\d+)?%?|[a-z]+(?:-[a-z]+)+")
"""Pattern of words and small numbers, which many tickets share."""
_TARGETS = frozenset(
    re.findall(r"\w+", "instance host hostname node nodename server device pod container target")
)
"""Labels whose value is one ticket's, even if it is a plain word."""
_EDGES = ".:!?"
_UNNAMED = "value"


@dataclass(frozen=True)
class TicketValues:
    """Values by which one ticket differs from others."""

    labels: Mapping[str, str]
    text: str = ""
    """Title and description."""

    def parameterise(self, words: str) -> str:
        """Replace the ticket's values by the names of their labels: `ssh <instance>`."""
        return _WORD.sub(self._replace, words)

    def _replace(self, match: re.Match[str]) -> str:
        whole = match.group()
        word = whole.strip(_EDGES)
        if not word:
            return whole
        name = self._names.get(word.casefold(), "")
        if not name and self._is_part(word):
            name = _UNNAMED
        return whole.replace(word, f"<{name}>") if name else whole

    @cached_property
    def _names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for label, value in sorted(self.labels.items()):
            folded = value.strip().casefold()
            is_own = label.casefold() in _TARGETS or _is_specific(folded)
            if len(folded) >= _LEAST and is_own:
                names.setdefault(folded, label)
        return names

    @cached_property
    def _words(self) -> frozenset[str]:
        """All specific words of the ticket, and the values that its labels are made of."""
        texts = (self.text, *self.labels.values())
        words = (word.strip(_EDGES).casefold() for text in texts for word in _WORD.findall(text))
        return frozenset(word for word in words if len(word) >= _LEAST and _is_specific(word))

    def _is_part(self, word: str) -> bool:
        """Return True if the word is one of the ticket's, or has a value of its labels in it."""
        folded = word.casefold()
        if not _is_specific(folded):
            return False
        return folded in self._words or any(value in folded for value in self._names)


def _is_specific(word: str) -> bool:
    return _PLAIN.fullmatch(word) is None and re.search(r"\d|[./:@_]", word) is not None
