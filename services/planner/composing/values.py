"""Checks that a value follows from an instruction, and search for values it states literally."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from services.language.words import stem
from services.planner.composing.component import ComponentParameter

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
"""Number of words from which a value counts as a text that may be paraphrased."""
_MENTIONED_SHARE = 0.5
"""Share of the words of such a text that the instruction must mention."""
_SMALL = frozenset(
    {"a", "an", "the", "of", "to", "in", "on", "at", "for", "and", "or", "is", "are", "was"}
    | {"were", "be", "has", "have", "with", "by", "from", "as", "it", "its", "this", "that"}
)
_ON = frozenset({"true", "yes", "on", "false", "no", "off"})


def follows(value: str, instruction: str, name: str = "") -> bool:
    """Return True if the value occurs in the instruction or can be derived from it.

    Its numbers, names and quoted strings must occur; of a longer text half of the other words too.
    A truth value follows if the instruction mentions the parameter.
    """
    plain, text = _normalize(value), _normalize(instruction)
    if not plain or plain in text:
        return bool(plain)
    if plain in _ON:
        return not _stems(name).isdisjoint(_stems(instruction))
    exact = [*(name for name in _names(value) if not _is_number(name)), *_quoted(value)]
    if not set(_numbers(value)) <= _mentioned_numbers(instruction):
        return False
    if not all(_normalize(each) in text for each in exact):
        return False
    mentioned = _stems(instruction)
    content = [stem(word) for word in _words(value) if not word.isdigit() and word not in _SMALL]
    matches = sum(1 for word in content if word in mentioned)
    return matches >= (_MENTIONED_SHARE if len(content) >= _LONG else 1) * len(content)


def literal_value(name: str, parameter: ComponentParameter, instruction: str) -> str | None:
    """Return the value stated under the parameter's name, or the allowed value that is mentioned.

    None where nothing was, or more than one thing.
    """
    values: list[str] = []
    if parameter.values:
        values = [
            each
            for each in parameter.values
            if re.search(rf"(?i)(?<![\w-]){re.escape(each)}(?![\w-])", instruction)
        ]
    if not values:
        values = list(_values_after_name(name, instruction))
    fitting = [each for each in dict.fromkeys(values) if not parameter.validation_error(each)]
    return fitting[0] if len(fitting) == 1 else None


def values_of_type(name: str, parameter: ComponentParameter, instruction: str) -> list[str]:
    """Return mentioned values that only this type takes: numbers, quoted texts, its pattern."""
    if parameter.type in {"integer", "number"}:
        numbers = [match[0].replace(",", "") for match in _NUMBER.finditer(instruction)]
        return [each for each in numbers if not parameter.validation_error(each)]
    if parameter.type == "boolean" or parameter.values:
        return []
    quoted = [each for each in _quoted(instruction) if not parameter.validation_error(each)]
    if quoted:
        return quoted
    if parameter.pattern:
        names = [each.strip(".,;:") for each in re.findall(r"\S+", instruction)]
        return [
            each for each in names if _NAME.fullmatch(each) and not parameter.validation_error(each)
        ]
    return [each for each in _names(instruction) if not _is_number(each)] if name else []


def _values_after_name(name: str, instruction: str) -> Iterator[str]:
    """Yield values after the parameter's name; a plain word only as in `in namespace prod`."""
    words = r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", name.strip("_"))))
    pattern = (
        rf"(?i)(?P<lead>(?:(?:in|of|for|on|at|with|to|from|the)\s+)|[:,]\s+)?(?<!\w){words}"
        r"(?:\s*(?P<sign>[:=])\s*|\s+(?:is\s+|of\s+|to\s+|named\s+|called\s+)?)"
        r"(?:\"(?P<a>[^\"]+)\"|“(?P<b>[^”]+)”|`(?P<c>[^`]+)`|'(?P<d>[^']+)'|(?P<e>[^\s,;\"'`]+))"
    )
    for match in re.finditer(pattern, instruction):
        quoted = match["a"] or match["b"] or match["c"] or match["d"]
        value = quoted or match["e"].rstrip(".?!:)")
        plain = value.casefold()
        is_plain_word = plain.isalpha() and plain not in _SMALL
        if value and (
            quoted
            or match["sign"]
            or _NAME.fullmatch(value)
            or _is_number(value)
            or (match["lead"] and is_plain_word and not plain.endswith(("s", "ing", "ed")))
        ):
            yield value


def _normalize(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).strip("\"'`“”")


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text.replace("_", " "))]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _words(text)}


def _names(text: str) -> list[str]:
    return [match[0] for match in _NAME.finditer(text)]


def _quoted(text: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(text)]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?[\d.,:/-]+%?", text) is not None


def _numbers(text: str) -> Iterator[Decimal]:
    for digits in re.findall(r"\d+(?:\.\d+)?", text.replace(",", "")):
        try:
            yield Decimal(digits).normalize()
        except InvalidOperation:
            continue


def _mentioned_numbers(instruction: str) -> set[Decimal]:
    """Collect numbers: digits, number words, months, and durations in other units."""
    numbers = {*_numbers(instruction), *_numbers(instruction.replace(",", " "))}
    words = _words(instruction)
    numbers |= {Decimal(_NUMBER_WORDS[word]).normalize() for word in words if word in _NUMBER_WORDS}
    numbers |= {Decimal(_MONTHS[word]).normalize() for word in words if word in _MONTHS}
    for match in _SPAN.finditer(instruction):
        count = match["count"].casefold()
        number = Decimal("0.5") if count == "half an" else None
        if number is None:
            number = (
                Decimal(_NUMBER_WORDS.get(count, 1))
                if count.isalpha() or " " in count
                else Decimal(count)
            )
        seconds = number * _SPANS[match["unit"].casefold()]
        numbers |= {(seconds / each).normalize() for each in (1, 60, 3600, 86_400)}
        numbers |= {(seconds * 1000).normalize()}
    return numbers
