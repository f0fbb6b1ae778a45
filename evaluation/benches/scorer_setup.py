"""The scorer as a benchmark runs it: every part asked and shown, whatever weights are in use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from evaluation.benches.page_reader import pages_of
from evaluation.benches.scorer import ScorerBench, is_measured
from evaluation.benches.workflows import gold, retrieved
from evaluation.pairs import Pair
from services.embedded import Embedded
from services.kit.errors import InvalidInputError
from services.llm.chat_model import ChatModel
from services.llm.recorder import RecordingChatModel
from services.llm.settings import ModelSettings
from services.scorer.judges.judge import Judge
from services.scorer.judges.likelihood import Likelihood
from services.scorer.judges.opinion import EVIDENCE
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.scorer.weights import WEIGHTS, Weights

_PATIENCE_S = 3600.0
"""A benchmark waits for a slow model; what it would say in time is another question."""


class ChoiceError(InvalidInputError):
    """Parts or severities that do not exist."""


@dataclass(frozen=True)
class Choice:
    """What is measured."""

    pairs: Sequence[Pair]
    severities: tuple[float, ...]
    parts: tuple[str, ...]
    draws: int
    seed: int

    @classmethod
    def of(
        cls, pairs: Sequence[Pair], severities: str, parts: str, *, draws: int, seed: int
    ) -> Self:
        """Reads lists with commas; pairs that cannot be measured are left out.

        Raises:
            ChoiceError: An unknown part, or something that is no number.
        """
        names = tuple(part.strip() for part in parts.split(","))
        known = {EVIDENCE, Judge.name, Likelihood.name}
        if not set(names) <= known:
            raise ChoiceError(f"expected parts among {sorted(known)!r}, got {parts!r}")
        try:
            shares = tuple(float(share) for share in severities.split(","))
        except ValueError as error:
            raise ChoiceError(f"expected shares such as 0.3,0.5, got {severities!r}") from error
        measured = [pair for pair in pairs if is_measured(pair)]
        return cls(measured, shares, names, draws, seed)


def bench_of(
    platform: Embedded, choice: Choice, record: Path | None, at_once: int
) -> tuple[ScorerBench, str]:
    """The benchmark, and the name of the model; empty where there is none, or none is asked."""
    asked = set(choice.parts) - {EVIDENCE}
    model = _recorded(platform.model, record) if asked else None
    settings = ScorerSettings(
        judge=Judge.name in asked, likelihood=Likelihood.name in asked, deadline_s=_PATIENCE_S
    )
    return (
        ScorerBench(
            find_context=retrieved(platform.retrieval),
            gold_context=gold(platform.graph, pages_of(platform)),
            scorer=ScorerService(
                platform.embedder, settings, model=model, weights=Weights(), hears_others=False
            ),
            embedder=platform.embedder,
            draws=choice.draws,
            seed=choice.seed,
            severities=choice.severities,
            fitted=WEIGHTS.models.get(model.name) if model else None,
            at_once=at_once,
        ),
        model.name if model else "",
    )


def provenance(pairs: str, choice: Choice, sample: int) -> str:
    """What weights were fitted on, and by which command."""
    fitted = sum(pair.is_fitted for pair in choice.pairs)
    return (
        f"flowxpert bench fit-scorer on {pairs} (sample {sample or 'all'}, seed {choice.seed},"
        f" draws {choice.draws}, severities {', '.join(map(str, choice.severities))}); fitted on"
        f" {fitted} ids whose sha256 is even, figures on the {len(choice.pairs) - fitted} others"
    )


def _recorded(model: ChatModel | None, record: Path | None) -> ChatModel | None:
    """With a record, one that is not there any more answers what it was asked before."""
    if record is None:
        return model
    return RecordingChatModel(record, model, name=ModelSettings().name)
