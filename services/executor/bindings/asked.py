"""What a question asks of a field: what Yes says of it, or the state that an answer names."""

import re
from collections.abc import Mapping, Sequence

from services.executor.bindings.binding import AnswerTest
from services.executor.tools.compare import Comparison, Test
from services.executor.tools.tool import OutputField
from services.language.answers import answer_of
from services.language.words import tokenise

_NUMBER = r"(?:an?\s+|the\s+)?(?P<value>-?\d[\d,]*(?:\.\d+)?)"
_ORDERS: tuple[tuple[re.Pattern[str], Comparison], ...] = tuple(
    (re.compile(rf"\b(?:{words})\s+(?:of\s+)?{_NUMBER}", re.IGNORECASE), comparison)
    for words, comparison in (
        (r"not (?:above|over|more than|greater than|higher than)|at most|up to|no more than",
         Comparison.AT_MOST),
        (r"not (?:below|under|less than|lower than)|at least|no less than", Comparison.AT_LEAST),
        (r"above|over|more than|greater than|higher than|exceeds?|larger than|beyond",
         Comparison.ABOVE),
        (r"below|under|less than|lower than|fewer than|smaller than|weaker than",
         Comparison.BELOW),
        (r"equals?|exactly", Comparison.IS),
    )
)  # fmt: skip
_RISING = re.compile(
    r"\b(?:ris(?:e|es|ing)|increas(?:e|es|ing)|grow(?:s|ing)?"
    r"|climb(?:s|ing)?|go(?:es|ing)? up)\b",
    re.IGNORECASE,
)
_SOME = re.compile(r"\b(?:are|is|were) there\b|\bany\b", re.IGNORECASE)
_THERE = re.compile(
    r"(?:is|are|was|were) there\s+(?:(?P<none>no|not any|not a)\s+|an?\s+|any\s+|the\s+)?"
    r"(?P<what>.+?)(?:\s+at all)?\s*\?*$",
    re.IGNORECASE,
)
_FILLING = frozenset(tokenise("is are was were the a an it its now still again of to that this"))
_NOT = re.compile(r"\b(?:not|no longer|never|without|isn't|aren't|doesn't|no)\b", re.IGNORECASE)


def answer_tests(
    question: str, conditions: Sequence[str], fields: Mapping[str, OutputField]
) -> tuple[AnswerTest, ...]:
    """What tells the answers apart; empty where the fields cannot.

    Each answer must be told, or the one besides yes is what the others are not.
    """
    told = tuple(
        AnswerTest(condition=each, tests=(test,))
        for each in conditions
        if answer_of(each) == 0 and (test := _of_state(each, question, fields))
    )
    rest = [each for each in conditions if each not in {t.condition for t in told}]
    if told and not rest:
        return told
    if told and len(rest) == 1 and len(told) == len({t.tests for t in told}):
        return (*told, AnswerTest(condition=rest[0]))
    yes = [each for each in conditions if answer_of(each) > 0]
    no = [each for each in conditions if answer_of(each) < 0]
    if len(conditions) != 2 or len(yes) != 1 or len(no) != 1:
        return ()
    if re.search(r"\bor\b", question):
        return ()
    parts = re.split(r",?\s+(?:and|but)\s+(?=the |its |there |it )", question.rstrip("?"))
    tests = [asked(part, fields) for part in parts]
    if None in tests:
        return ()
    return (
        AnswerTest(condition=yes[0], tests=tuple(filter(None, tests))),
        AnswerTest(condition=no[0]),
    )


def asked(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """The comparison that holds where the question is answered Yes; None where none is told."""
    said, there = question, _THERE.match(question.strip())
    if there is not None:  # `there` is no state here: is it present, or missing?
        said = f"{there['what']} {'missing' if there['none'] else 'present'}"
    return (
        _of_order(question, fields)
        or _of_rise(question, fields)
        or _of_state(said, said, fields)
        or _of_presence(question, fields)
        or _of_value(question, fields)
    )


_OPPOSITE = {
    Comparison.ABOVE: Comparison.AT_MOST,
    Comparison.AT_MOST: Comparison.ABOVE,
    Comparison.BELOW: Comparison.AT_LEAST,
    Comparison.AT_LEAST: Comparison.BELOW,
    Comparison.IS: Comparison.IS_NOT,
}


def _of_order(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    for pattern, comparison in _ORDERS:
        found = pattern.search(question)
        name = _named(question, fields, "number") if found else None
        if found and name:
            value = float(found["value"].replace(",", ""))
            besides = question.replace(found.group(), "")
            turned = _OPPOSITE[comparison] if _NOT.search(besides) else comparison
            return Test(field=name, comparison=turned, value=value)
    return None


def _of_rise(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    name = _named(question, fields, "number") if _RISING.search(question) else None
    if name is None:
        return None
    turned = _NOT.search(question) or re.search(r"\bstop", question, re.IGNORECASE)
    return Test(field=name, comparison=Comparison.STAYED if turned else Comparison.ROSE)


def _of_state(said: str, question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """A state that is named. Where two fields have it, the one that the question names decides."""
    found = [
        (name, value, at)
        for name, field in fields.items()
        for value in field.values
        for word in (value, *field.says.get(value, ()))
        if (at := re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", said, re.IGNORECASE))
    ]
    if len({name for name, _, _ in found}) > 1:
        best = _named(question, {name: fields[name] for name, _, _ in found}, None)
        found = [each for each in found if each[0] == best]
    if not found:
        return None
    longest = max(len(at.group()) for _, _, at in found)
    name, value, at = next(each for each in found if len(each[2].group()) == longest)
    turned = _NOT.search(said[max(0, at.start() - 25) : at.start()])
    is_named_in_another = {v for n, v, a in found if n == name and len(a.group()) == longest}
    if len(is_named_in_another) > 1:
        return None
    return Test(field=name, comparison=Comparison.IS_NOT if turned else Comparison.IS, value=value)


def _of_presence(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """`Are there CRC errors?`: of a count more than none, of a text that it is there."""
    name = _named(question, fields, None) if _SOME.search(question) else None
    if name is None or fields[name].values:
        return None
    is_none = _NOT.search(question) is not None
    if fields[name].type == "number":
        return Test(field=name, comparison=Comparison.IS if is_none else Comparison.ABOVE, value=0)
    return Test(field=name, comparison=Comparison.IS_MISSING if is_none else Comparison.IS_THERE)


def _of_value(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """`Is the next hop 192.0.2.1?`: beside the words of a text field one value is left."""
    texts = {name: f for name, f in fields.items() if f.type == "string" and not f.values}
    name = _named(question, texts, None)
    if name is None:
        return None
    known = set(tokenise(f"{name.replace('_', ' ')} {texts[name].description}")) | _FILLING
    left = [
        word
        for word in re.findall(r"[\w./:-]*\w", question)
        if not _NOT.fullmatch(word) and not set(tokenise(word)) <= known
    ]
    if len(left) != 1:
        return None
    is_not = _NOT.search(question) is not None
    return Test(
        field=name, comparison=Comparison.IS_NOT if is_not else Comparison.IS, value=left[0]
    )


def _named(question: str, fields: Mapping[str, OutputField], kind: str | None) -> str | None:
    """The field that shares most words with the question; None where none or two do."""
    wanted = set(tokenise(question))
    shared = {
        name: len(
            wanted & set(tokenise(f"{name.replace('_', ' ')} {field.description} {field.unit}"))
        )
        for name, field in fields.items()
        if kind is None or field.type == kind
    }
    most = max(shared.values(), default=0)
    best = [name for name, count in shared.items() if count == most]
    return best[0] if most and len(best) == 1 else None
