"""Pages of the product's own examples with the programs that were drawn of them."""

import json
from collections import Counter
from functools import cache
from importlib.resources import files
from math import log, sqrt
from typing import Any, NamedTuple

from services.language.words import tokenise


class WorkedExample(NamedTuple):
    """A page and the answer that a careful reader gave."""

    text: str
    program: dict[str, Any]
    """The answer in the form that the model is to give."""


def most_similar(text: str) -> WorkedExample | None:
    """The example whose page is worded most like this one, another page than this itself.

    Cosine of term weights; None where there is no other page.
    """
    others = [example for example in worked_examples() if example.text != text]
    if not others:
        return None
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
