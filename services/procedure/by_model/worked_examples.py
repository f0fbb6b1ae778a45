"""Pages of the product's own examples with the programs that were drawn of them."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import log, sqrt
from typing import Any, NamedTuple

from services.language.words import tokenise

_HEADING = re.compile(r"^#+\s+(.*)", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*)", re.MULTILINE)
_CHECK = re.compile(
    r"\W*(?:check|verify|look|see|review|inspect|examine|compare|confirm|ensure|make sure"
    r"|determine|investigate|identify|find out|is|are)\b",
    re.IGNORECASE,
)
_FEWEST_ITEMS = 4
"""Fewer make no list that says what a page is."""


class Kind(StrEnum):
    """What most of a page is."""

    CHECKLIST = "checklist"
    VALIDATION = "validation"
    CAUSES = "causes"
    RUNBOOK = "runbook"
    TASK = "task"


_HEADED = {
    Kind.VALIDATION: r"^failure\b|\b(?:remediation|validator|pre-?check)\b",
    Kind.CAUSES: r"\b(?:causes|reasons)\b",
    Kind.RUNBOOK: r"\b(?:diagnosis|mitigation|symptoms?|resolution)\b",
    Kind.TASK: r"\b(?:procedure|prerequisites?|requirements)\b",
}
"""Words of headings, the first kind that has one."""


class WorkedExample(NamedTuple):
    """A page and the answer that a careful reader gave."""

    text: str
    program: dict[str, Any]
    """The answer in the form that the model is to give."""


def kind_of(text: str) -> Kind | None:
    """What its list items and headings tell; None where they tell none.

    Where checks come with commands a page is more than a list of them.
    """
    items = _ITEM.findall(text)
    checks = sum(bool(_CHECK.match(item)) for item in items)
    if len(items) >= _FEWEST_ITEMS and 2 * checks >= len(items) and "```" not in text:
        return Kind.CHECKLIST
    headings = "\n".join(_HEADING.findall(text))
    flags = re.IGNORECASE | re.MULTILINE
    return next(
        (kind for kind, words in _HEADED.items() if re.search(words, headings, flags)), None
    )


def most_similar(
    text: str, *, examples: Sequence[WorkedExample] | None = None
) -> WorkedExample | None:
    """Of the examples of the page's kind the one worded most like it, never the page itself.

    Cosine of term weights, over all examples where none is of its kind; None where there is no
    other page.
    """
    known = worked_examples() if examples is None else examples
    others = [example for example in known if example.text != text]
    if not others:
        return None
    kind = kind_of(text)
    others = [example for example in others if kind and kind_of(example.text) is kind] or others
    counts = [Counter(tokenise(example.text)) for example in others]
    rarity = {
        term: log(1 + len(counts) / sum(term in c for c in counts)) for c in counts for term in c
    }
    own = Counter(tokenise(text))
    nearness = [_cosine(own, count, rarity) for count in counts]
    return others[nearness.index(max(nearness))]


@cache
def worked_examples() -> tuple[WorkedExample, ...]:
    """All that the package ships."""
    path = files(__package__).joinpath("examples.jsonl")
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line)
    return tuple(WorkedExample(row["text"], row["program"]) for row in rows)


def _cosine(a: Counter[str], b: Counter[str], rarity: dict[str, float]) -> float:
    """Words count by how few of the examples have them, and less with each time."""
    dot = sum(sqrt(a[t] * b[t]) * rarity[t] ** 2 for t in a.keys() & b.keys())
    lengths = [sqrt(sum(n * rarity.get(t, 0.0) ** 2 for t, n in c.items())) for c in (a, b)]
    return dot / (lengths[0] * lengths[1]) if all(lengths) else 0.0
