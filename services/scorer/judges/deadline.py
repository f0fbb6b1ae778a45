"""A moment by which a model must have answered, whatever number of calls that takes."""

import sys
import time
from collections.abc import Sequence

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelUnavailableError,
    SampleStream,
    Usage,
)
from services.llm.guard import Budget
from services.llm.tokens import estimated


class Deadline:
    """Counts down from its making."""

    def __init__(self, seconds: float, budget: Budget | None = None) -> None:
        """`budget` is what all the calls may use."""
        self.seconds = seconds
        self.budget = budget or Budget(sys.maxsize)
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, at least 0."""
        return max(0.0, self._ends - time.monotonic())

    def bind(self, model: ChatModel) -> ChatModel:
        """The model, none of whose answers outlasts this moment or goes beyond the budget."""
        return _HurriedChatModel(model, self)


class _HurriedChatModel:
    def __init__(self, model: ChatModel, deadline: Deadline) -> None:
        self.name = model.name
        self._model = model
        self._deadline = deadline

    def complete(self, request: ChatRequest) -> ChatResponse:
        response = self._model.complete(self._hurried(request))
        self._deadline.budget.spend(response.usage)
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        response = yield from self._model.stream(self._hurried(request))
        self._deadline.budget.spend(response.usage)
        return response

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        left = self._left()
        found = self._model.log_probabilities(
            messages, text, timeout_s=min(left, timeout_s or left)
        )
        shown = estimated(message.content for message in messages)
        self._deadline.budget.spend(Usage(prompt_tokens=shown + len(found or ())))
        return found

    def _hurried(self, request: ChatRequest) -> ChatRequest:
        return request.model_copy(update={"timeout_s": self._left()})

    def _left(self) -> float:
        self._deadline.budget.check()
        left = self._deadline.left
        if left <= 0:
            raise ModelUnavailableError(
                f"no time is left of the {self._deadline.seconds:.0f} s for scoring"
            )
        return left
