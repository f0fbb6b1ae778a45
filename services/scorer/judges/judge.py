"""The judge: a language model compares the candidates and gives each five numbers and reasons."""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict, Field, create_model

from services.contracts.scorer import DIMENSIONS
from services.llm.chat_model import ChatModel, ChatRequest, JsonSchema
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for
from services.scorer.judges.deadline import Deadline
from services.scorer.judges.opinion import MODEL_ERRORS, Opinion, mean_of
from services.scorer.judges.subject import Subject

_LONGEST_REASON = 120
_TOKENS_PER_CANDIDATE = 300
"""Five reasons of about twelve words, five numbers and what JSON puts around them, doubled."""

_PROMPT = load_prompt("services.scorer", "judge")

_log = structlog.get_logger()


class _Mark(BaseModel):
    reason: str = ""
    score: float = Field(ge=1, le=5)


class _Marks(BaseModel):
    relevance: _Mark
    coverage: _Mark
    accuracy: _Mark
    coherence: _Mark
    conciseness: _Mark


class Judge:
    """Shows the model a few candidates at a time, without a word on where they come from."""

    name = "judge"

    def __init__(self, model: ChatModel, *, together: int, second_pass_gap: float) -> None:
        """`together` candidates a call; see `ScorerSettings` for both."""
        self._model = model
        self._together = together
        self._gap = second_pass_gap

    def opinions(self, subject: Subject, deadline: Deadline) -> list[Opinion] | None:
        """See `Part.opinions`; candidates that say the same are judged once."""
        model = deadline.bind(self._model)
        evidence = dict(
            zip(subject.detailed, (score.overall for score in subject.evidence), strict=True)
        )
        found: dict[str, Opinion] = {}
        for group in groups(subject, self._together):
            first = _judged(model, subject, group)
            doubtful = self._is_doubtful(first, evidence)
            found |= _confirmed(model, subject, group, first) if doubtful else first
        return [found[text] for text in subject.detailed]

    def _is_doubtful(self, found: Mapping[str, Opinion], evidence: Mapping[str, float]) -> bool:
        values = [opinion.overall for opinion in found.values()]
        apart = [abs(opinion.overall - evidence[text]) for text, opinion in found.items()]
        return max(max(values) - min(values), *apart) >= self._gap


def _confirmed(
    model: ChatModel, subject: Subject, group: Sequence[str], first: Mapping[str, Opinion]
) -> Mapping[str, Opinion]:
    """The mean of two passes; the first alone where there is none of the second."""
    try:
        second = _judged(model, subject, group[::-1])
    except MODEL_ERRORS as error:
        _log.warning("scorer.second_pass_missing", reason=str(error))
        return first
    return {text: mean_of((first[text], second[text])) for text in group}


def groups(subject: Subject, together: int) -> Iterator[tuple[str, ...]]:
    """The different candidates, shuffled, in groups of about one size.

    The same request is shuffled in the same way, in whatever order its candidates come.
    """
    texts = sorted(set(subject.detailed))
    content = "\0".join((subject.ticket, subject.context, *texts))
    seed = hashlib.sha256(content.encode()).hexdigest()
    random.Random(seed).shuffle(texts)  # noqa: S311 - repeatable, no secret
    count = -(-len(texts) // together)
    for place in range(count):
        yield tuple(texts[place::count])


def _judged(model: ChatModel, subject: Subject, group: Sequence[str]) -> dict[str, Opinion]:
    labels = ascii_uppercase[: len(group)]
    shown = "\n\n".join(
        f"Candidate {label}:\n{text or '(no step)'}"
        for label, text in zip(labels, group, strict=True)
    )
    request = ChatRequest(
        messages=_PROMPT.render(
            {"ticket": subject.ticket, "context": subject.context, "candidates": shown}
        ),
        temperature=0.0,
        max_tokens=_TOKENS_PER_CANDIDATE * len(group),
        json_schema=schema(labels),
        prompt=_PROMPT.label,
    )
    answer, _ = ask_for(model, request, _sheet(labels))
    return {
        text: _opinion(getattr(answer, label)) for label, text in zip(labels, group, strict=True)
    }


def schema(labels: Sequence[str]) -> JsonSchema:
    """What the server enforces: every label, every dimension, a reason and then a number."""
    mark = _object(
        {
            "reason": {"type": "string", "maxLength": _LONGEST_REASON},
            "score": {"enum": [1, 2, 3, 4, 5]},
        }
    )
    return _object({label: _object(dict.fromkeys(DIMENSIONS, mark)) for label in labels})


def _object(properties: dict[str, Any]) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _sheet(labels: Sequence[str]) -> type[BaseModel]:
    """Exactly these labels: a model that judges a candidate nobody showed is not believed."""
    fields: dict[str, Any] = dict.fromkeys(labels, (_Marks, ...))
    return create_model("Judgement", __config__=ConfigDict(extra="forbid"), **fields)


def _opinion(marks: _Marks) -> Opinion:
    given: dict[str, _Mark] = {name: getattr(marks, name) for name in DIMENSIONS}
    return Opinion(
        values={name: mark.score for name, mark in given.items()},
        reasons={
            name: " ".join(mark.reason.split())[:_LONGEST_REASON] for name, mark in given.items()
        },
    )
