"""Answers that are handed on when they are whole."""

from collections.abc import Sequence

from services.llm.chat_model import ChatModel, ChatRequest, ChatResponse, Message, SampleStream


class WholeAnswers:
    """A chat model whose stream begins when its last sample is finished.

    In front of a recorder, so that whatever the caller makes of one sample, the others are not
    broken off and the answer is kept. The time is the same.
    """

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self._model = model

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`."""
        return self._model.complete(request)

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; in the order of the samples' numbers."""
        response = _end_of(self._model.stream(request))
        yield from response.samples
        return response

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """See `ChatModel.log_probabilities`."""
        return self._model.log_probabilities(messages, text, timeout_s=timeout_s)


def _end_of(stream: SampleStream) -> ChatResponse:
    try:
        while True:
            next(stream)
    except StopIteration as end:
        response: ChatResponse = end.value
        return response
