"""What a part of the scorer that asks a language model thinks of one candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Protocol

from services.llm.chat_model import (
    BudgetExceededError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.scorer.judges.deadline import Deadline
from services.scorer.judges.subject import Subject

EVIDENCE = "evidence"
"""The part that asks no model; it always votes."""
MODEL_ERRORS = (
    ModelUnavailableError,
    ModelRefusedError,
    ModelAnswerError,
    BudgetExceededError,
)
"""What may go wrong with a model; none of it is worth a ticket's answer."""


@dataclass(frozen=True)
class Opinion:
    """A value of 1–5 for each dimension, and reasons where there are some."""

    values: Mapping[str, float]
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def overall(self) -> float:
        """The mean of its values."""
        return fmean(self.values.values())


def mean_of(opinions: Sequence[Opinion]) -> Opinion:
    """The mean of each dimension, with the reasons of the first."""
    values = {name: fmean(o.values[name] for o in opinions) for name in opinions[0].values}
    return Opinion(values, opinions[0].reasons)


class Part(Protocol):
    """One way to ask a language model about candidates."""

    @property
    def name(self) -> str:
        """As it stands in `Dimension.parts` and in the metrics."""

    def opinions(self, subject: Subject, deadline: Deadline) -> list[Opinion] | None:
        """One per candidate, in their order; None where the server cannot tell.

        Raises:
            ModelUnavailableError: The model is down, slow or overloaded.
            ModelRefusedError: The server will not serve this.
            ModelAnswerError: The model's answer cannot be read.
            BudgetExceededError: The ticket's tokens are spent.
        """
