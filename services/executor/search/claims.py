"""Whether what a model says stands in the lines that it cites: its numbers, names and states do."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from services.executor.tools.compare import Scalar
from services.executor.tools.tool import Tool
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
"""What points to the search itself and is no value of a device."""
_ABOVE = re.compile(r"(?:above|over|more than|at least|greater than|exceed\w*|beyond|[>≥]=?)\s*$")
_BELOW = re.compile(r"(?:below|under|less than|at most|lower than|fewer than|[<≤]=?)\s*$")
_NEGATED = re.compile(
    r"\b(?:not|no|never|nor|without|instead of|rather than|cannot|\w+n't)\s+(?:\S+\s+){0,2}$"
)
_LEAST_LETTERS = 4
_LEAST_SHARED = 1 / 3
"""Of the words of a claim without any value, which must stand in the evidence."""


@dataclass(frozen=True)
class Evidence:
    """What was cited: lines and fields, with what was asked of whom."""

    texts: tuple[str, ...]
    told: tuple[tuple[str, str, Scalar], ...] = ()
    """Fields: the tool, the name, the value."""

    @property
    def text(self) -> str:
        """All of it, in small letters."""
        fields = (f"{name.replace('_', ' ')} {value}" for _, name, value in self.told)
        return "\n".join((*self.texts, *fields)).casefold()


@dataclass(frozen=True)
class Vocabulary:
    """Words that are states or names here, with what people call them."""

    means: Mapping[str, tuple[tuple[str, str, str], ...]]
    """By the word in small letters: tool, field and value that it stands for; a value by itself
    stands for none."""
    values: Mapping[str, frozenset[tuple[str, str]]]
    """By the value in small letters: tools and fields that may have it."""

    @classmethod
    def of(cls, tools: Iterable[Tool], names: Iterable[str] = ()) -> "Vocabulary":
        """Of the values that tools' fields may have, of words that mean them, and of names."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        values: dict[str, set[tuple[str, str]]] = {}
        for name in filter(_is_telling, names):
            found.setdefault(name.casefold(), [])
        for tool in tools:
            for name, field in tool.output.fields.items():
                for value in filter(_is_telling, field.values):
                    found.setdefault(value.casefold(), [])
                    values.setdefault(value.casefold(), set()).add((tool.name, name))
                for value, words in field.says.items():
                    for word in filter(_is_telling, words):
                        found.setdefault(word.casefold(), []).append((tool.name, name, value))
        return cls(
            {word: tuple(means) for word, means in found.items()},
            {value: frozenset(fields) for value, fields in values.items()},
        )


def unsupported(text: str, evidence: Evidence, vocabulary: Vocabulary) -> str:
    """What of a statement is not in the evidence, in words; empty where all of it is."""
    said, shown = _REFERENCE.sub(" ", text), evidence.text
    wanted = list(_distinctive(said, vocabulary, evidence))
    for what, is_there in wanted:
        if not is_there(shown):
            return f"{what!r} is not in the cited lines"
    if wanted:
        return ""
    words = {stem(word) for word in words_of(said) if len(word) >= _LEAST_LETTERS}
    known = {stem(word) for word in words_of(shown)}
    if words and len(words & known) >= max(1, len(words) * _LEAST_SHARED):
        return ""
    return "nothing of it is in the cited lines"


class _Wanted:
    """What must stand in the evidence."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def __call__(self, shown: str) -> bool:
        return self._pattern.search(shown) is not None


@dataclass(frozen=True)
class _Number:
    written: str
    before: str

    def __call__(self, shown: str) -> bool:
        value, known = float(self.written), [float(n) for n in _NUMBER.findall(shown)]
        known += [abs(n) for n in known]  # `17.5 dBm under` of -17.5 dBm
        if _ABOVE.search(self.before):
            return any(n >= value for n in known)
        if _BELOW.search(self.before):
            return any(n <= value for n in known)
        digits = len(self.written.partition(".")[2])
        return any(round(n, digits) == value for n in known)


@dataclass(frozen=True)
class _State:
    word: str
    means: tuple[tuple[str, str, str], ...]
    told: tuple[tuple[str, str, Scalar], ...]

    def __call__(self, shown: str) -> bool:
        fields = {(tool, field) for tool, field, _ in self.means}
        asked = [each for each in self.told if each[:2] in fields]
        if asked:  # `shut down: no` has the words, and says that it is not
            return any((t, f, str(value)) in self.means for t, f, value in asked)
        return _Wanted(_whole(self.word))(shown) or (names_fault(self.word) and names_fault(shown))


@dataclass(frozen=True)
class _Other:
    """A field that may have the value has another one."""

    value: str

    def __call__(self, shown: str) -> bool:
        return not _Wanted(_whole(self.value))(shown)


_Check = _Wanted | _Number | _State | _Other


def _distinctive(
    said: str, vocabulary: Vocabulary, evidence: Evidence
) -> Iterator[tuple[str, _Check]]:
    quoted = [next(filter(None, found.groups())) for found in _QUOTED.finditer(said)]
    for each in quoted:
        yield each, _Wanted(_whole(each.casefold()).replace(r"\ ", r"\s+"))
    rest = _QUOTED.sub(" ", said)
    for found in _WORD.finditer(rest):
        word = found.group().rstrip(".:!?").lstrip("~≈")
        bare = word.lstrip("<>≤≥=")
        if measured := _MEASURED.fullmatch(bare):
            before = rest[: found.start()].casefold() + word[: len(word) - len(bare)]
            yield bare, _Number(measured.group(1), before)
        elif any(c.isdigit() for c in word) or "_" in word or "/" in word.strip("/"):
            yield from _names(word)
    folded = rest.casefold()
    for line in sorted(_lines(evidence), key=len, reverse=True):  # a line as it stands says itself
        folded = folded.replace(line, "·" * len(line))
    for word, means in sorted(vocabulary.means.items(), key=lambda each: -len(each[0])):
        found_at = [at.span() for at in re.finditer(_whole(word), folded)]
        if any(not _NEGATED.search(folded[:begin]) for begin, _ in found_at):
            yield word, _State(word, means, evidence.told)
        elif found_at and any(
            (tool, name) in vocabulary.values.get(word, ()) for tool, name, _ in evidence.told
        ):
            yield f"not {word}", _Other(word)
        for begin, end in found_at:  # `down` is no state of its own in `shut down`
            folded = folded[:begin] + "·" * (end - begin) + folded[end:]


def _lines(evidence: Evidence) -> set[str]:
    """The cited lines in small letters; those that say something by themselves."""
    lines = (line.strip().casefold() for text in evidence.texts for line in text.splitlines())
    return {line for line in lines if len(line.split()) > 1}


def _names(word: str) -> Iterator[tuple[str, _Check]]:
    is_name = any(c.isdigit() for c in word) or "_" in word or word.startswith("/")
    if is_name:
        own = re.sub(r"(?:'s|’s)$", "", word)
        yield own, _Wanted(_whole(own.casefold()))


def _whole(word: str) -> str:
    return rf"(?<![\w/]){re.escape(word)}(?![\w/]|[.-]\d)"


def _is_telling(value: str) -> bool:
    """A word that says something: no `yes`, no number, nothing that stands in any sentence."""
    return len(value) >= _LEAST_LETTERS and not _NUMBER.fullmatch(value) and len(value) <= 60
