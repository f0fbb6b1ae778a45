"""Whether a model's workflow tells what the platform told the model."""

import re
from collections.abc import Iterator, Sequence

from services.grounding.evidence import Evidence, terms_of
from services.workflow.model import Workflow

_SAME = 0.6
"""Share of a text's words in one sentence from which it is that sentence in other words."""
_LEAST_WORDS = 5
"""Content words; fewer agree with the model's own orders by chance."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*[-*]\s+")


def leaked(workflow: Workflow, orders: Sequence[str], evidence: Evidence) -> str | None:
    """The first sentence of the workflow that one of `orders` says and no source does.

    `orders` are the platform's own messages to the model; they have no place in a workflow.
    """
    own = [terms_of(part) for order in orders for part in _sentences(order)]
    for text in (part for whole in _texts(workflow) for part in _sentences(whole)):
        terms = terms_of(text)
        if len(terms) < _LEAST_WORDS or _said_by(evidence, terms) >= _SAME:
            continue
        if any(len(terms & said) >= _SAME * len(terms) for said in own):
            return text
    return None


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def _texts(workflow: Workflow) -> Iterator[str]:
    for step in workflow.steps:
        yield step.text
        yield from step.commands
        yield step.expected
        yield from step.notes
    for transition in workflow.transitions:
        if transition.condition not in {"Yes", "No"}:
            yield transition.condition


def _said_by(evidence: Evidence, terms: frozenset[str]) -> float:
    """The share of the words that one sentence of the sources holds."""
    nearest = evidence.nearest(terms, 1)
    return len(terms & nearest[0][0].terms) / len(terms) if nearest else 0.0
