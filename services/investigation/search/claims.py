"""Check of a model's statement against its cited lines: numbers, names and states must be there."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from services.execution.tools.compare import Scalar
from services.execution.tools.tool import Tool
from services.language.names import words_of
from services.language.states import names_fault
from services.language.words import stem

_WORD = re.compile(r"[^\s,;()\[\]{}<>\"'“”‘’`|=]+")
_QUOTED = re.compile(r"`([^`]{2,80})`|“([^”]{2,80})”|\"([^\"]{2,80})\"")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_MEASURED = re.compile(r"(-?\d+(?:\.\d+)?)(?:%|[A-Za-z]{1,5})?")
_REFERENCE = re.compile(
    r"\b(?:[OFH]\d{1,3}\b|(?:lines?|observations?|findings?|hypothes[ei]s) \d[\d,\s–-]*)"
)
"""References to the search itself, which are no values of a device."""
_ABOVE = re.compile(r"(?:above|over|more than|at least|greater than|exceed\w*|beyond|[>≥]=?)\s*$")
_BELOW = re.compile(r"(?:below|under|less than|at most|lower than|fewer than|[<≤]=?)\s*$")
_NEGATED = re.compile(
    r"\b(?:not|no|never|nor|without|instead of|rather than|cannot|\w+n't)\s+(?:\S+\s+){0,2}$"
)
_LEAST_LETTERS = 4
_MIN_SHARED = 1 / 3
"""Least share of the words in the evidence, for a claim without any value."""


@dataclass(frozen=True)
class CitedEvidence:
    """Cited lines and fields, with the calls that observed them."""

    texts: tuple[str, ...]
    fields: tuple[tuple[str, str, Scalar], ...] = ()
    """Fields: the tool, the name, the value."""

    @property
    def text(self) -> str:
        """All of it, case-folded."""
        field_texts = (f"{name.replace('_', ' ')} {value}" for _, name, value in self.fields)
        return "\n".join((*self.texts, *field_texts)).casefold()


@dataclass(frozen=True)
class Vocabulary:
    """Words that are states or names here, with what people call them."""

    means: Mapping[str, tuple[tuple[str, str, str], ...]]
    """Tool, field and value by each case-folded word for them; empty for a value itself."""
    values: Mapping[str, frozenset[tuple[str, str]]]
    """Tools and fields that may have a value, by the case-folded value."""

    @classmethod
    def of(cls, tools: Iterable[Tool], names: Iterable[str] = ()) -> "Vocabulary":
        """Build a vocabulary of the tools' values, the words that mean them, and names."""
        meanings: dict[str, list[tuple[str, str, str]]] = {}
        values: dict[str, set[tuple[str, str]]] = {}
        for name in filter(_is_distinctive, names):
            meanings.setdefault(name.casefold(), [])
        for tool in tools:
            for name, field in tool.output.fields.items():
                for value in filter(_is_distinctive, field.values):
                    meanings.setdefault(value.casefold(), [])
                    values.setdefault(value.casefold(), set()).add((tool.name, name))
                for value, words in field.says.items():
                    for word in filter(_is_distinctive, words):
                        meanings.setdefault(word.casefold(), []).append((tool.name, name, value))
        return cls(
            {word: tuple(means) for word, means in meanings.items()},
            {value: frozenset(fields) for value, fields in values.items()},
        )


def find_unsupported(text: str, evidence: CitedEvidence, vocabulary: Vocabulary) -> str:
    """Return what of a statement is not in the evidence, in words; empty if all of it is."""
    statement, shown = _REFERENCE.sub(" ", text), evidence.text
    has_values = False
    for what, is_there in _checks_of(statement, vocabulary, evidence):
        if not is_there:
            return f"{what!r} is not in the cited lines"
        has_values = True
    if has_values:
        return ""
    words = {stem(word) for word in words_of(statement) if len(word) >= _LEAST_LETTERS}
    shown_stems = {stem(word) for word in words_of(shown)}
    if words and len(words & shown_stems) >= max(1, len(words) * _MIN_SHARED):
        return ""
    return "nothing of it is in the cited lines"


def _has_number(shown: str, written: str, before: str) -> bool:
    """Return True if a text has the number, or one on the side of it that the words before say."""
    value, numbers = float(written), [float(n) for n in _NUMBER.findall(shown)]
    numbers += [abs(n) for n in numbers]  # `17.5 dBm under` of -17.5 dBm
    if _ABOVE.search(before):
        return any(n >= value for n in numbers)
    if _BELOW.search(before):
        return any(n <= value for n in numbers)
    digits = len(written.partition(".")[2])
    return any(round(n, digits) == value for n in numbers)


def _has_state(evidence: CitedEvidence, word: str, means: tuple[tuple[str, str, str], ...]) -> bool:
    """Return True if a field that the word is about has its value, or else the text the word."""
    implied_fields = {(tool, field) for tool, field, _ in means}
    observed = [each for each in evidence.fields if each[:2] in implied_fields]
    if observed:  # `shut down: no` has the words, and says that it is not
        return any((t, f, str(value)) in means for t, f, value in observed)
    shown = evidence.text
    is_there = re.search(_whole_word(word), shown) is not None
    return is_there or (names_fault(word) and names_fault(shown))


def _checks_of(
    statement: str, vocabulary: Vocabulary, evidence: CitedEvidence
) -> Iterator[tuple[str, bool]]:
    """Yield each value of a statement, with True if the evidence has it."""
    shown = evidence.text
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(statement)]
    for each in quoted:
        pattern = _whole_word(each.casefold()).replace(r"\ ", r"\s+")
        yield each, re.search(pattern, shown) is not None
    rest = _QUOTED.sub(" ", statement)
    for match in _WORD.finditer(rest):
        word = match.group().rstrip(".:!?").lstrip("~≈")
        bare = word.lstrip("<>≤≥=")
        if measured := _MEASURED.fullmatch(bare):
            before = rest[: match.start()].casefold() + word[: len(word) - len(bare)]
            yield bare, _has_number(shown, measured.group(1), before)
        elif (
            any(c.isdigit() for c in word)
            or "_" in word
            or (word.startswith("/") and "/" in word.strip("/"))
        ):
            own = re.sub(r"(?:'s|’s)$", "", word)
            yield own, re.search(_whole_word(own.casefold()), shown) is not None
    folded = rest.casefold()
    cited = {line.strip().casefold() for text in evidence.texts for line in text.splitlines()}
    lines = [line for line in cited if len(line.split()) > 1]
    for line in sorted(lines, key=len, reverse=True):  # a line as it stands says itself
        folded = folded.replace(line, "·" * len(line))
    for word, means in sorted(vocabulary.means.items(), key=lambda each: -len(each[0])):
        spans = [at.span() for at in re.finditer(_whole_word(word), folded)]
        if any(not _NEGATED.search(folded[:begin]) for begin, _ in spans):
            yield word, _has_state(evidence, word, means)
        elif spans and any(
            (tool, name) in vocabulary.values.get(word, ()) for tool, name, _ in evidence.fields
        ):
            # Another value was observed than the one that the statement negates.
            yield f"not {word}", re.search(_whole_word(word), shown) is None
        for begin, end in spans:  # `down` is no state of its own in `shut down`
            folded = folded[:begin] + "·" * (end - begin) + folded[end:]


def _whole_word(word: str) -> str:
    return rf"(?<![\w/]){re.escape(word)}(?![\w/]|[.-]\d)"


def _is_distinctive(value: str) -> bool:
    """Return True if a word is specific: no `yes`, no number, no word of any sentence."""
    return len(value) >= _LEAST_LETTERS and not _NUMBER.fullmatch(value) and len(value) <= 60
