"""Tests of output fields that decide a question: for its Yes, or for each state as an answer."""

import re
from collections.abc import Mapping, Sequence

from services.execution.bindings.binding import AnswerTest
from services.execution.tools.compare import ComparisonOperator, Test
from services.execution.tools.tool import OutputField
from services.language.answers import answer_of
from services.language.words import tokenise

_NUMBER = r"(?:an?\s+|the\s+)?(?P<value>-?\d[\d,]*(?:\.\d+)?)"
_ORDERS: tuple[tuple[re.Pattern[str], ComparisonOperator], ...] = tuple(
    (re.compile(rf"\b(?:{words})\s+(?:of\s+)?{_NUMBER}", re.IGNORECASE), comparison)
    for words, comparison in (
        (r"not (?:above|over|more than|greater than|higher than)|at most|up to|no more than",
         ComparisonOperator.AT_MOST),
        (
            r"not (?:below|under|less than|lower than)|at least|no less than",
            ComparisonOperator.AT_LEAST,
        ),
        (r"above|over|more than|greater than|higher than|exceeds?|larger than|beyond",
         ComparisonOperator.ABOVE),
        (r"below|under|less than|lower than|fewer than|smaller than|weaker than",
         ComparisonOperator.BELOW),
        (r"equals?|exactly", ComparisonOperator.IS),
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


def derive_answer_tests(
    question: str, conditions: Sequence[str], fields: Mapping[str, OutputField]
) -> tuple[AnswerTest, ...]:
    """Return a test for each answer; empty if the fields cannot tell the answers apart.

    At most one answer may have no test of its own: it holds when no other does.
    """
    tests_by_state = tuple(
        AnswerTest(condition=each, tests=(test,))
        for each in conditions
        if answer_of(each) == 0 and (test := _state_test(each, question, fields))
    )
    rest = [each for each in conditions if each not in {t.condition for t in tests_by_state}]
    if tests_by_state and not rest:
        return tests_by_state
    if (
        tests_by_state
        and len(rest) == 1
        and len(tests_by_state) == len({t.tests for t in tests_by_state})
    ):
        return (*tests_by_state, AnswerTest(condition=rest[0]))
    yes = [each for each in conditions if answer_of(each) > 0]
    no = [each for each in conditions if answer_of(each) < 0]
    if len(conditions) != 2 or len(yes) != 1 or len(no) != 1:
        return ()
    if re.search(r"\bor\b", question):
        return ()
    parts = re.split(r",?\s+(?:and|but)\s+(?=the |its |there |it )", question.rstrip("?"))
    yes_tests = [derive_yes_test(part, fields) for part in parts]
    if None in yes_tests:
        return ()
    return (
        AnswerTest(condition=yes[0], tests=tuple(filter(None, yes_tests))),
        AnswerTest(condition=no[0]),
    )


def derive_yes_test(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """Return the comparison that holds when the question is answered Yes; None if there is none."""
    statement, there = question, _THERE.match(question.strip())
    if there is not None:  # `there` is no state here: is it present, or missing?
        statement = f"{there['what']} {'missing' if there['none'] else 'present'}"
    return (
        _number_test(question, fields)
        or _rise_test(question, fields)
        or _state_test(statement, statement, fields)
        or _presence_test(question, fields)
        or _value_test(question, fields)
    )


_OPPOSITE = {
    ComparisonOperator.ABOVE: ComparisonOperator.AT_MOST,
    ComparisonOperator.AT_MOST: ComparisonOperator.ABOVE,
    ComparisonOperator.BELOW: ComparisonOperator.AT_LEAST,
    ComparisonOperator.AT_LEAST: ComparisonOperator.BELOW,
    ComparisonOperator.IS: ComparisonOperator.IS_NOT,
}


def _number_test(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    for pattern, comparison in _ORDERS:
        match = pattern.search(question)
        name = _best_field(question, fields, "number") if match else None
        if match and name:
            value = float(match["value"].replace(",", ""))
            besides = question.replace(match.group(), "")
            turned = _OPPOSITE[comparison] if _NOT.search(besides) else comparison
            return Test(field=name, comparison=turned, value=value)
    return None


def _rise_test(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    name = _best_field(question, fields, "number") if _RISING.search(question) else None
    if name is None:
        return None
    turned = _NOT.search(question) or re.search(r"\bstop", question, re.IGNORECASE)
    return Test(
        field=name, comparison=ComparisonOperator.STAYED if turned else ComparisonOperator.ROSE
    )


def _state_test(statement: str, question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """Return a test of the state that is named.

    If two fields have the state, the field that the question names is taken.
    """
    matches = [
        (name, value, at)
        for name, field in fields.items()
        for value in field.values
        for word in (value, *field.says.get(value, ()))
        if (at := re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", statement, re.IGNORECASE))
    ]
    if len({name for name, _, _ in matches}) > 1:
        best = _best_field(question, {name: fields[name] for name, _, _ in matches}, None)
        matches = [each for each in matches if each[0] == best]
    if not matches:
        return None
    longest = max(len(at.group()) for _, _, at in matches)
    name, value, at = next(each for each in matches if len(each[2].group()) == longest)
    turned = _NOT.search(statement[max(0, at.start() - 25) : at.start()])
    is_named_in_another = {v for n, v, a in matches if n == name and len(a.group()) == longest}
    if len(is_named_in_another) > 1:
        return None
    return Test(
        field=name,
        comparison=ComparisonOperator.IS_NOT if turned else ComparisonOperator.IS,
        value=value,
    )


def _presence_test(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """Return a test of presence for `Are there CRC errors?`: a count above 0, or any text."""
    name = _best_field(question, fields, None) if _SOME.search(question) else None
    if name is None or fields[name].values:
        return None
    is_none = _NOT.search(question) is not None
    if fields[name].type == "number":
        return Test(
            field=name,
            comparison=ComparisonOperator.IS if is_none else ComparisonOperator.ABOVE,
            value=0,
        )
    return Test(
        field=name,
        comparison=ComparisonOperator.IS_MISSING if is_none else ComparisonOperator.IS_THERE,
    )


def _value_test(question: str, fields: Mapping[str, OutputField]) -> Test | None:
    """Return a test of a text field for `Is the next hop 192.0.2.1?`.

    Beside the words of the field, exactly one value must be left.
    """
    texts = {name: f for name, f in fields.items() if f.type == "string" and not f.values}
    name = _best_field(question, texts, None)
    if name is None:
        return None
    stop_words = set(tokenise(f"{name.replace('_', ' ')} {texts[name].description}")) | _FILLING
    left = [
        word
        for word in re.findall(r"[\w./:-]*\w", question)
        if not _NOT.fullmatch(word) and not set(tokenise(word)) <= stop_words
    ]
    if len(left) != 1:
        return None
    is_not = _NOT.search(question) is not None
    return Test(
        field=name,
        comparison=ComparisonOperator.IS_NOT if is_not else ComparisonOperator.IS,
        value=left[0],
    )


def _best_field(question: str, fields: Mapping[str, OutputField], kind: str | None) -> str | None:
    """Return the field that shares most words with the question; None for a tie or no match."""
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
