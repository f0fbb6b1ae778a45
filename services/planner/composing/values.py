"""Whether a value follows from what was said, and which value of a parameter was said plainly."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from services.language.words import stem
from services.planner.composing.catalogue.component import Parameter

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_NAME = re.compile(r"(?<!\w)[\w./:@#-]*[\d_./:@#-][\w./:@#-]*\w|(?<!^)(?<![.!?]\s)\b[A-Z]\w+")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        (
            *(
                "zero",
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
            ),
            *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
            *("eighteen", "nineteen", "twenty"),
        )
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100, "dozen": 12}
_MONTHS = {
    name: place
    for place, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_SPANS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600} | {
    "day": 86_400,
    "week": 604_800,
}
_SPAN = re.compile(
    r"(?P<count>\d+(?:\.\d+)?|an?|one|two|three|four|five|six|ten|half an)\s*-?\s*"
    r"(?P<unit>second|sec|minute|min|hour|day|week)s?\b",
    re.IGNORECASE,
)
_LONG = 4
"""Words from which a value is a text that may be put in other words."""
_SAID = 0.5
"""Share of the words of such a text that were said."""
_SMALL = frozenset(
    {"a", "an", "the", "of", "to", "in", "on", "at", "for", "and", "or", "is", "are", "was"}
    | {"were", "be", "has", "have", "with", "by", "from", "as", "it", "its", "this", "that"}
)
_ON = frozenset({"true", "yes", "on", "false", "no", "off"})


def follows(value: str, said: str, name: str = "") -> bool:
    """Whether the value occurs in what was said, or comes of it.

    Its numbers, names and quoted strings must; of a longer text half of the other words too. A
    truth value follows where what was said speaks of the parameter.
    """
    plain, told = _squeezed(value), _squeezed(said)
    if not plain or plain in told:
        return bool(plain)
    if plain in _ON:
        return not _stems(name).isdisjoint(_stems(said))
    exact = [*(name for name in _names(value) if not _is_number(name)), *_quoted(value)]
    if not set(_numbers(value)) <= _numbers_said(said):
        return False
    return all(_squeezed(each) in told for each in exact) and _are_said(_words(value), said)


def _are_said(words: list[str], said: str) -> bool:
    known = _stems(said)
    told = [stem(word) for word in words if not word.isdigit() and word not in _SMALL]
    held = sum(1 for word in told if word in known)
    return held >= (_SAID if len(told) >= _LONG else 1) * len(told)


def said_plainly(name: str, parameter: Parameter, said: str) -> str | None:
    """The value that was said under the parameter's name, or the one of its values that was said.

    None where nothing was, or more than one thing.
    """
    found: list[str] = []
    if parameter.values:
        found = [each for each in parameter.values if _stands_in(each, said)]
    if not found:
        found = list(_after_name(name, said))
    fitting = [each for each in dict.fromkeys(found) if not parameter.misfit(each)]
    return fitting[0] if len(fitting) == 1 else None


def by_type(name: str, parameter: Parameter, said: str) -> list[str]:
    """What was said that only this kind of parameter takes: numbers, quoted texts, its pattern."""
    if parameter.type in {"integer", "number"}:
        told = [found[0].replace(",", "") for found in _NUMBER.finditer(said)]
        return [each for each in told if not parameter.misfit(each)]
    if parameter.type == "boolean" or parameter.values:
        return []
    quoted = [each for each in _quoted(said) if not parameter.misfit(each)]
    if quoted:
        return quoted
    if parameter.pattern:
        names = [each.strip(".,;:") for each in re.findall(r"\S+", said)]
        return [each for each in names if _NAME.fullmatch(each) and not parameter.misfit(each)]
    return [each for each in _names(said) if not _is_number(each)] if name else []


def _after_name(name: str, said: str) -> Iterator[str]:
    """What stands behind the parameter's name; a plain word only as in `in namespace prod`."""
    words = r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", name.strip("_"))))
    pattern = (
        rf"(?i)(?P<lead>(?:(?:in|of|for|on|at|with|to|from|the)\s+)|[:,]\s+)?(?<!\w){words}"
        r"(?:\s*(?P<sign>[:=])\s*|\s+(?:is\s+|of\s+|to\s+|named\s+|called\s+)?)"
        r"(?:\"(?P<a>[^\"]+)\"|“(?P<b>[^”]+)”|`(?P<c>[^`]+)`|'(?P<d>[^']+)'|(?P<e>[^\s,;\"'`]+))"
    )
    for found in re.finditer(pattern, said):
        quoted = found["a"] or found["b"] or found["c"] or found["d"]
        told = quoted or found["e"].rstrip(".?!:)")
        if (told and (quoted or found["sign"] or _looks_like_value(told))) or (
            told and found["lead"] and _may_be_value(told)
        ):
            yield told


def _may_be_value(word: str) -> bool:
    plain = word.casefold()
    return plain.isalpha() and plain not in _SMALL and not plain.endswith(("s", "ing", "ed"))


def _looks_like_value(word: str) -> bool:
    return bool(_NAME.fullmatch(word) or _is_number(word))


def _stands_in(value: str, said: str) -> bool:
    return re.search(rf"(?i)(?<![\w-]){re.escape(value)}(?![\w-])", said) is not None


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).strip("\"'`“”")


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text.replace("_", " "))]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _words(text)}


def _names(text: str) -> list[str]:
    return [found[0] for found in _NAME.finditer(text)]


def _quoted(text: str) -> list[str]:
    return [next(filter(None, found)) for found in _QUOTED.findall(text)]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[\d.,:/-]+%?", text) is not None


def _numbers(text: str) -> Iterator[Decimal]:
    for digits in re.findall(r"\d+(?:\.\d+)?", text.replace(",", "")):
        try:
            yield Decimal(digits).normalize()
        except InvalidOperation:
            continue


def _numbers_said(said: str) -> set[Decimal]:
    """Numbers, those in words, months of dates, and spans of time in other units."""
    told = {*_numbers(said), *_numbers(said.replace(",", " "))}
    words = _words(said)
    told |= {Decimal(_NUMBER_WORDS[word]).normalize() for word in words if word in _NUMBER_WORDS}
    told |= {Decimal(_MONTHS[word]).normalize() for word in words if word in _MONTHS}
    for found in _SPAN.finditer(said):
        count = found["count"].casefold()
        number = Decimal("0.5") if count == "half an" else None
        if number is None:
            number = (
                Decimal(_NUMBER_WORDS.get(count, 1))
                if count.isalpha() or " " in count
                else Decimal(count)
            )
        seconds = number * _SPANS[found["unit"].casefold()]
        told |= {(seconds / each).normalize() for each in (1, 60, 3600, 86_400)}
        told |= {(seconds * 1000).normalize()}
    return told
