"""Values of a ticket in words that people wrote on it: they become parameters for other tickets.

Whatever is learned from a ticket's words, or quoted from them elsewhere, goes through
`TicketValues.parameterise`. Only what the page itself says stays as it is.
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from services.kit.observability.redaction import redact
from services.knowledge.folding import strip_invisible
from services.tickets.tables import TicketRow

_WORD = r"[^\s\"'`,;()<>|{}=]+"
_PIECE = re.compile(r"[^\W_]+")
_RUN = re.compile(r"[^\W\d_]+|\d+")
_LEAST = 3
"""Fewest characters of a value that is replaced wherever it occurs."""
_MOST_WORDS = 6
"""Most words of a name; a longer value is a sentence."""
_PLAIN = re.compile(r"[A-Za-z]+|\d{1,4}(?:\.\d+)?%?|[a-z]+(?:-[a-z]+)+")
"""Pattern of words and small numbers, which many tickets share."""
_TARGETS = frozenset(
    re.findall(r"\w+", "instance host hostname node nodename server device pod container target")
)
"""Labels whose value is one ticket's, even if it is a plain word."""
_PARTIES = frozenset(
    re.findall(
        r"\w+",
        "customer client tenant account company organisation organization org contact owner oncall"
        " caller requester requestedby reporter reportedby openedby assignee assignedto user"
        " username person engineer operator manager author createdby",
    )
)
"""Labels whose value is a person or a company; each word of their names is replaced."""
_OF_KIND = frozenset(
    re.findall(
        r"\w+",
        "alertname alert alertgroup severity priority urgency impact level status state team"
        " category class type kind summary description message title text reason runbook"
        " runbookurl",
    )
)
"""Labels whose value says which kind of alert it is, as other tickets of the kind have it."""
_COMMON = frozenset(
    re.findall(
        r"[\w-]+",
        "prod production staging stage test testing dev development default main primary secondary"
        " active passive standby master backup leader follower local remote global internal"
        " external public private shared none null true false yes no all any other unknown up down"
        " on off open closed high low medium normal critical major minor warning error info ok"
        " left right top bottom front rear upper lower inner outer first second last north south"
        " east west red green blue yellow orange black white grey gray",
    )
)
"""Words that steps have without meaning a label's value; beside the label's name they mean it."""
_NAMED = re.compile(
    r"\b(?P<label>(?i:customer|client|tenant|contact|on-?call|owner|requester|reporter|caller"
    r"|assignee|engineer))(?:\s?[:=]\s?|(?<=[a-z])\s)"
    r"(?P<name>[A-Z][a-z][\w'-]{0,40}(?: [A-Z][\w'-]{0,40}){0,3})"
)
"""Person or company that a ticket's text names as such."""
_REFERENCE = re.compile(r"&(?:#\w{1,8}|hyphen|dash|shy|zwnj|lowbar|period);")
"""Character reference, which may hide a name."""
_EDGES = ".:!?"
_UNNAMED = "value"


@dataclass(frozen=True)
class TicketValues:
    """Values by which one ticket differs from others."""

    labels: Mapping[str, str]
    text: str = ""
    """Title and description."""
    page: str = ""
    """Folded words of the pages at hand: values that they say are no ticket's alone."""

    @classmethod
    def of(cls, ticket: TicketRow, page: str) -> Self:
        """Return the values of a ticket that the page does not say; `page` is from `fold_words`."""
        return cls(ticket.labels, f"{ticket.title}\n{ticket.description}", page)

    def parameterise(self, words: str) -> str:
        """Replace the ticket's values by the names of their labels: `ssh <instance>`.

        Secrets are masked as in logs.
        """
        shown = redact(strip_invisible(_REFERENCE.sub(lambda at: html.unescape(at[0]), words)))
        for label, pattern in self._beside:
            mark = f"<{label}>".replace("\\", "/")
            shown = pattern.sub(rf"\g<lead>{mark}", shown)
        return self._pattern.sub(self._replace, shown)

    def _replace(self, match: re.Match[str]) -> str:
        whole = match[0]
        if match["phrase"]:
            return f"<{self._phrases[_normalise(whole)]}>"
        word = whole.strip(_EDGES)
        folded = word.casefold()
        name = (
            self._own.get(folded) or self._plain.get(folded) or self._variants.get(_squeeze(word))
        )
        if not name and self._is_part(folded):
            name = _UNNAMED
        if name:
            return whole.replace(word, f"<{name}>")
        plain = self._plain
        return _PIECE.sub(
            lambda at: f"<{plain[key]}>" if (key := at[0].casefold()) in plain else at[0], whole
        )

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield the names of labels with the values that the page does not say, in lower case."""
        named = ((at["label"].casefold(), at["name"]) for at in _NAMED.finditer(self.text))
        for label, value in (*sorted(self.labels.items()), *named):
            if _name(label) in _OF_KIND:
                continue
            forms = [value.strip().casefold()]
            if _name(label) in _TARGETS:
                forms += [forms[0].partition(":")[0], re.split(r"[.:]", forms[0])[0]]
            yield from (
                (label, form)
                for form in forms
                if _PIECE.search(form) and not self._is_on_page(form)
            )

    @cached_property
    def _own(self) -> dict[str, str]:
        """Labels by the values of one word that no other ticket shares by chance."""
        own: dict[str, str] = {}
        for label, value in self._values():
            is_own = _name(label) in _TARGETS or _is_specific(value)
            if len(value) >= _LEAST and len(value.split()) == 1 and is_own:
                own.setdefault(value, label)
        return own

    @cached_property
    def _plain(self) -> dict[str, str]:
        """Labels by the plain words that are their values, or a part of a party's name."""
        plain: dict[str, str] = {}
        for label, value in self._values():
            words = value.split()
            is_party = _name(label) in _PARTIES
            for word in words if is_party and len(words) <= _MOST_WORDS else [value]:
                is_name = is_party or word not in _COMMON
                is_word = len(word.split()) == 1 and len(word) >= _LEAST and not word[0].isdigit()
                if is_word and is_name and not self._is_on_page(word):
                    plain.setdefault(word, label)
        return plain

    @cached_property
    def _phrases(self) -> dict[str, str]:
        """Labels by the values of several words, and by machines' names spelt with spaces."""
        phrases: dict[str, str] = {}
        for label, value in self._values():
            if 1 < len(value.split()) <= _MOST_WORDS:
                phrases.setdefault(_normalise(value), label)
        for value, label in self._own.items():
            runs = " ".join(_RUN.findall(value))
            if runs[0].isalpha() and " " in runs and not self._is_on_page(runs):
                phrases.setdefault(runs, label)
        return phrases

    @cached_property
    def _variants(self) -> dict[str, str]:
        """Labels by the names of machines without their hyphens, dots and underscores."""
        return {
            key: label for value, label in self._own.items() if len(key := _squeeze(value)) > _LEAST
        }

    @cached_property
    def _beside(self) -> list[tuple[str, re.Pattern[str]]]:
        """Labels, with the pattern of a short or common value beside the label's name."""
        patterns = []
        for label, value in self._values():
            name = " ".join(_PIECE.findall(label))
            is_one = len(value.split()) == 1 and value not in {*self._own, *self._plain}
            if not is_one or not name or self._is_on_page(f"{name} {value}"):
                continue
            names, this = r"[\W_]?".join(map(re.escape, name.split())), re.escape(value)
            patterns.append(
                (
                    label,
                    re.compile(
                        rf"(?i)(?<!\w)(?:(?P<lead>{names}(?:\s{{1,3}}|\s?[:=#]\s?)){this}(?!\w)"
                        rf"|{this}(?=\s{names}(?!\w)))"
                    ),
                )
            )
        return patterns

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._phrases, key=len, reverse=True)
        phrases = (r"[\s_-]{1,3}".join(map(re.escape, each.split())) for each in longest_first)
        joined = "|".join(phrases) or r"(?!)"
        return re.compile(rf"(?i)(?<![^\W_])(?P<phrase>{joined})(?![^\W_]|[.:]\w)|{_WORD}")

    @cached_property
    def _words(self) -> frozenset[str]:
        """All specific words of the ticket, and the values that its labels are made of."""
        texts = (self.text, *self.labels.values())
        words = (w.strip(_EDGES).casefold() for text in texts for w in re.findall(_WORD, text))
        return frozenset(
            form
            for word in words
            if len(word) >= _LEAST and _is_specific(word) and not self._is_on_page(word)
            for form in (word, _squeeze(word))
        )

    def _is_part(self, word: str) -> bool:
        """Return True if the word is one of the ticket's, or has a value of its labels in it."""
        if not _is_specific(word) or self._is_on_page(word):
            return False
        squeezed = _squeeze(word)
        return (
            not self._words.isdisjoint({word, squeezed})
            or any(value in word for value in self._own)
            or any(value in squeezed for value in self._variants)
        )

    def _is_on_page(self, value: str) -> bool:
        """Return True if the page says the value, in whole words."""
        return fold_words(value) in self.page


def fold_words(text: str) -> str:
    """Return the words of a text in lower case, with a space around each and nothing between."""
    return f" {' '.join(_PIECE.findall(text.casefold()))} "


def _is_specific(word: str) -> bool:
    return _PLAIN.fullmatch(word) is None and re.search(r"\d|[./:@_]", word) is not None


def _name(label: str) -> str:
    return "".join(_PIECE.findall(label.casefold()))


def _normalise(words: str) -> str:
    return " ".join(re.split(r"[\s_.-]+", words.casefold())).strip()


def _squeeze(word: str) -> str:
    """Return a machine's name without separators; numbers of an address stay apart."""
    return ("" if re.search(r"[^\W\d_]", word) else ".").join(_PIECE.findall(word.casefold()))
