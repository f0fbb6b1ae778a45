"""Whether a model's workflow does what a sentence inside the data asked the model for."""

import re
from collections.abc import Iterator, Sequence

from services.grounding.evidence import Evidence, terms_of
from services.knowledge.folding import folded
from services.workflow.model import Workflow

_REPEATED = 0.6
"""Share of a step's words in one suspicious text from which it carries that text out."""
_STRANGE = 0.5
"""The same share among words that no source knows: a name to advertise needs few others."""
_LEAST_WORDS_OF_PROMPT = 5
"""Content words; fewer agree with the model's own orders by chance."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*[-*]\s+")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


def obeyed(
    workflow: Workflow, suspicious: Sequence[str], orders: Sequence[str], evidence: Evidence
) -> str | None:
    """The first words of the workflow that no source says and that obey or tell secrets.

    `suspicious` is what spoke to the model, `orders` the platform's own messages to it, which have
    no place in a workflow either.
    """
    own = [part for order in orders for part in _sentences(order)]
    asked = frozenset(word for text in suspicious for word in _words(text))
    for text in (part for whole in _texts(workflow) for part in _sentences(whole)):
        terms = terms_of(folded(text))
        if _said_by(evidence, terms) >= _REPEATED:
            continue
        if repeats(text, suspicious) or _strange(terms, asked, evidence):
            return text
        if len(terms) >= _LEAST_WORDS_OF_PROMPT and repeats(text, own):
            return text
    return None


def repeats(step_text: str, suspicious: Sequence[str]) -> bool:
    """Whether most content words of a step are those of one suspicious text."""
    words = _words(step_text)
    return bool(words) and any(
        len(words & _words(text)) >= _REPEATED * len(words) for text in suspicious
    )


def _strange(terms: frozenset[str], asked: frozenset[str], evidence: Evidence) -> bool:
    """Whether half of the words that no source knows come from what was asked."""
    unknown = {term for term in terms if not evidence.knows(term)}
    return bool(unknown) and len(unknown & asked) >= _STRANGE * len(unknown)


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def _texts(workflow: Workflow) -> Iterator[str]:
    for step in workflow.steps:
        yield step.text
        yield from step.commands
        yield step.expected
    for transition in workflow.transitions:
        if transition.condition not in {"Yes", "No"}:
            yield transition.condition


def _said_by(evidence: Evidence, terms: frozenset[str]) -> float:
    """The share of the words that one sentence of the sources holds."""
    nearest = evidence.nearest(terms, 1) if terms else ()
    return len(terms & nearest[0][0].terms) / len(terms) if nearest else 0.0


def _words(text: str) -> frozenset[str]:
    """Stemmed words; of scripts that put no spaces between them, pairs of characters."""
    plain = folded(text)
    pairs = (run[i : i + 2] for run in _IDEOGRAPHS.findall(plain) for i in range(len(run) - 1))
    return terms_of(_IDEOGRAPHS.sub(" ", plain)) | frozenset(pairs)
