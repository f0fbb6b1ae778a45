"""The scorer as a benchmark runs it: with the model that decides facts, or without one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from evaluation.benches.planning.workflows import gold, retrieved
from evaluation.benches.scoring.scorer import ScorerBench, is_measured
from evaluation.material.page_reader import pages_of
from evaluation.material.pairs import Pair
from evaluation.material.recorder import RecordingChatModel
from services.deployment.embedded import Embedded
from services.kit.errors import InvalidInputError
from services.llm.chat_model import ChatModel
from services.llm.settings import ModelSettings
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings

_PATIENCE_S = 3600.0
"""A benchmark waits for a slow model; what it would say in time is another question."""


class ChoiceError(InvalidInputError):
    """Severities that are no numbers."""


@dataclass(frozen=True)
class Choice:
    """What is measured."""

    pairs: Sequence[Pair]
    severities: tuple[float, ...]
    draws: int
    seed: int

    @classmethod
    def of(cls, pairs: Sequence[Pair], severities: str, *, draws: int, seed: int) -> Self:
        """Reads a list with commas; pairs that cannot be measured are left out.

        Raises:
            ChoiceError: Something that is no number.
        """
        try:
            shares = tuple(float(share) for share in severities.split(","))
        except ValueError as error:
            raise ChoiceError(f"expected shares such as 0.3,0.5, got {severities!r}") from error
        return cls([pair for pair in pairs if is_measured(pair)], shares, draws, seed)


def bench_of(
    platform: Embedded, choice: Choice, record: Path | None, at_once: int, *, is_judged: bool
) -> tuple[ScorerBench, str]:
    """The benchmark, and the name of the model; empty where there is none, or none is asked."""
    model = _recorded(platform.model, record) if is_judged else None
    settings = ScorerSettings(deadline_s=_PATIENCE_S)
    return (
        ScorerBench(
            find_context=retrieved(platform.retrieval),
            gold_context=gold(platform.graph, pages_of(platform)),
            scorer=ScorerService(platform.embedder, settings, model=model, counts_votes=False),
            embedder=platform.embedder,
            draws=choice.draws,
            seed=choice.seed,
            severities=choice.severities,
            at_once=at_once,
        ),
        model.name if model else "",
    )


def _recorded(model: ChatModel | None, record: Path | None) -> ChatModel | None:
    """With a record, one that is not there any more answers what it was asked before."""
    if record is None:
        return model
    return RecordingChatModel(record, model, name=ModelSettings().name)
