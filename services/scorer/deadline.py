"""A moment by which a model must have answered, whatever number of calls that takes."""

import time
from collections.abc import Sequence

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelUnavailableError,
    SampleStream,
)


class Deadline:
    """Counts down from its making."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, at least 0."""
        return max(0.0, self._ends - time.monotonic())

    def bind(self, model: ChatModel) -> ChatModel:
        """The model, none of whose answers outlasts this moment."""
        return _HurriedChatModel(model, self)


class _HurriedChatModel:
    def __init__(self, model: ChatModel, deadline: Deadline) -> None:
        self.name = model.name
        self._model = model
        self._deadline = deadline

    def complete(self, request: ChatRequest) -> ChatResponse:
        return self._model.complete(self._hurried(request))

    def stream(self, request: ChatRequest) -> SampleStream:
        return self._model.stream(self._hurried(request))

    def log_probabilities(self, messages: Sequence[Message], text: str) -> list[float] | None:
        self._left()
        return self._model.log_probabilities(messages, text)

    def _hurried(self, request: ChatRequest) -> ChatRequest:
        return request.model_copy(update={"timeout_s": self._left()})

    def _left(self) -> float:
        left = self._deadline.left
        if left <= 0:
            raise ModelUnavailableError(
                f"no time is left of the {self._deadline.seconds:.0f} s for scoring"
            )
        return left
