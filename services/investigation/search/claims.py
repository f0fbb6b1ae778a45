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
    checks = list(_checks_of(statement, vocabulary, evidence))
    for what, is_there in checks:
        if not is_there(shown):
            return f"{what!r} is not in the cited lines"
    if checks:
        return ""
    words = {stem(word) for word in words_of(statement) if len(word) >= _LEAST_LETTERS}
    shown_stems = {stem(word) for word in words_of(shown)}
    if words and len(words & shown_stems) >= max(1, len(words) * _MIN_SHARED):
        return ""
    return "nothing of it is in the cited lines"


class _TextCheck:
    """Check that a text is in the evidence."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def __call__(self, shown: str) -> bool:
        return self._pattern.search(shown) is not None


@dataclass(frozen=True)
class _NumberCheck:
    written: str
    before: str

    def __call__(self, shown: str) -> bool:
        value, numbers = float(self.written), [float(n) for n in _NUMBER.findall(shown)]
        numbers += [abs(n) for n in numbers]  # `17.5 dBm under` of -17.5 dBm
        if _ABOVE.search(self.before):
            return any(n >= value for n in numbers)
        if _BELOW.search(self.before):
            return any(n <= value for n in numbers)
        digits = len(self.written.partition(".")[2])
        return any(round(n, digits) == value for n in numbers)


@dataclass(frozen=True)
class _StateCheck:
    word: str
    means: tuple[tuple[str, str, str], ...]
    fields: tuple[tuple[str, str, Scalar], ...]

    def __call__(self, shown: str) -> bool:
        implied_fields = {(tool, field) for tool, field, _ in self.means}
        observed = [each for each in self.fields if each[:2] in implied_fields]
        if observed:  # `shut down: no` has the words, and says that it is not
            return any((t, f, str(value)) in self.means for t, f, value in observed)
        return _TextCheck(_whole_word(self.word))(shown) or (
            names_fault(self.word) and names_fault(shown)
        )


@dataclass(frozen=True)
class _AbsenceCheck:
    """Check that another value was observed than the one that the statement negates."""

    value: str

    def __call__(self, shown: str) -> bool:
        return not _TextCheck(_whole_word(self.value))(shown)


_Check = _TextCheck | _NumberCheck | _StateCheck | _AbsenceCheck


def _checks_of(
    statement: str, vocabulary: Vocabulary, evidence: CitedEvidence
) -> Iterator[tuple[str, _Check]]:
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(statement)]
    for each in quoted:
        yield each, _TextCheck(_whole_word(each.casefold()).replace(r"\ ", r"\s+"))
    rest = _QUOTED.sub(" ", statement)
    for match in _WORD.finditer(rest):
        word = match.group().rstrip(".:!?").lstrip("~≈")
        bare = word.lstrip("<>≤≥=")
        if measured := _MEASURED.fullmatch(bare):
            before = rest[: match.start()].casefold() + word[: len(word) - len(bare)]
            yield bare, _NumberCheck(measured.group(1), before)
        elif any(c.isdigit() for c in word) or "_" in word or "/" in word.strip("/"):
            yield from _name_checks(word)
    folded = rest.casefold()
    cited = {line.strip().casefold() for text in evidence.texts for line in text.splitlines()}
    lines = [line for line in cited if len(line.split()) > 1]
    for line in sorted(lines, key=len, reverse=True):  # a line as it stands says itself
        folded = folded.replace(line, "·" * len(line))
    for word, means in sorted(vocabulary.means.items(), key=lambda each: -len(each[0])):
        spans = [at.span() for at in re.finditer(_whole_word(word), folded)]
        if any(not _NEGATED.search(folded[:begin]) for begin, _ in spans):
            yield word, _StateCheck(word, means, evidence.fields)
        elif spans and any(
            (tool, name) in vocabulary.values.get(word, ()) for tool, name, _ in evidence.fields
        ):
            yield f"not {word}", _AbsenceCheck(word)
        for begin, end in spans:  # `down` is no state of its own in `shut down`
            folded = folded[:begin] + "·" * (end - begin) + folded[end:]


def _name_checks(word: str) -> Iterator[tuple[str, _Check]]:
    is_name = any(c.isdigit() for c in word) or "_" in word or word.startswith("/")
    if is_name:
        own = re.sub(r"(?:'s|’s)$", "", word)
        yield own, _TextCheck(_whole_word(own.casefold()))


def _whole_word(word: str) -> str:
    return rf"(?<![\w/]){re.escape(word)}(?![\w/]|[.-]\d)"


def _is_distinctive(value: str) -> bool:
    """Return True if a word is specific: no `yes`, no number, no word of any sentence."""
    return len(value) >= _LEAST_LETTERS and not _NUMBER.fullmatch(value) and len(value) <= 60
