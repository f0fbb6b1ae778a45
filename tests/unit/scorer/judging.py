"""Judges and servers that say what a test wants."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from services.contracts.planner import Candidate
from services.contracts.scorer import DIMENSIONS, ScoredCandidate, ScoreRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import ChatModel, ChatRequest, Message
from services.llm.scripted import ScriptedChatModel
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.scorer.weights import ModelWeights, Weights
from services.workflow.model import Workflow
from tests.unit.scorer.cases import CONTEXT, TICKET, changed

OTHER = changed(e="Sell the switch")
THIRD = changed(e="Paint the switch")

_SHOWN = re.compile(r"Candidate ([A-Z]):\n(.*?)(?=\n\nCandidate [A-Z]:|\n</)", re.DOTALL)


def shown(request: ChatRequest) -> dict[str, str]:
    """The candidates of a request to the judge, by label."""
    return dict(_SHOWN.findall(request.messages[1].content))


def sheet(scores: Mapping[str, float]) -> str:
    """An answer in which each label has one number in all dimensions."""
    return json.dumps(
        {
            label: {key: {"reason": f"it is {value}", "score": value} for key in DIMENSIONS}
            for label, value in scores.items()
        }
    )


def judging(value: Callable[[str], float]) -> ScriptedChatModel:
    """A judge that gives a candidate what `value` says of its text."""
    return ScriptedChatModel(
        lambda request: [sheet({label: value(text) for label, text in shown(request).items()})]
    )


class TellingModel(ScriptedChatModel):
    """A server that tells log-probabilities; its judge says nothing that can be read."""

    def __init__(self, tells: Callable[[str], list[float] | None]) -> None:
        super().__init__([""])
        self._tells = tells

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """What `tells` says of the text."""
        return self._tells(text)


def ranked(
    model: ChatModel | None,
    *workflows: Workflow,
    shares: Mapping[str, float] | None = None,
    **settings: object,
) -> list[ScoredCandidate]:
    """Candidates, best first; `shares` are what was fitted for the model."""
    service = ScorerService(
        HashingEmbedder(),
        ScorerSettings(**settings),
        model=model,
        weights=_weights(model, shares),
    )
    candidates = tuple(Candidate(id=str(n), workflow=w) for n, w in enumerate(workflows))
    request = ScoreRequest(ticket=TICKET, context=CONTEXT, candidates=candidates)
    return list(service.score(request).ranked)


def scored(
    model: ChatModel | None,
    *workflows: Workflow,
    shares: Mapping[str, float] | None = None,
    **settings: object,
) -> list[ScoredCandidate]:
    """The same in the order given."""
    found = ranked(model, *workflows, shares=shares, **settings)
    return sorted(found, key=lambda each: int(each.candidate.id))


def _weights(model: ChatModel | None, shares: Mapping[str, float] | None) -> Weights:
    if model is None or shares is None:
        return Weights()
    each = {key: dict(shares) for key in DIMENSIONS}
    return Weights(models={model.name: ModelWeights(weights=each, provenance="a test")})
