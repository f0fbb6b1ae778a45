"""Chat model that answers from a script, for tests and for measuring the platform's own time."""

import threading
import time
from collections.abc import Callable, Sequence

from services.llm.chat_model import (
    ChatRequest,
    ChatResponse,
    Message,
    Sample,
    SampleStream,
    Usage,
)

Script = Callable[[ChatRequest], Sequence[str]]


class ScriptedChatModel:
    """Model that answers what `script` returns, `seconds` later, and records the requests."""

    name = "scripted"

    def __init__(self, script: Script | Sequence[str], *, seconds: float = 0.0) -> None:
        """Take a function of the request, or texts of which every call takes the next `n`.

        The last text is repeated when they run out.
        """
        self._script = script if callable(script) else _script_of_texts(list(script))
        self._seconds = seconds
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`; tokens are counted as words."""
        self.requests.append(request)
        texts = self._script(request)
        if self._seconds:
            time.sleep(self._seconds)
        return ChatResponse(
            samples=tuple(Sample(text=text, index=n) for n, text in enumerate(texts)),
            model=self.name,
            usage=Usage(
                prompt_tokens=sum(len(m.content.split()) for m in request.messages),
                completion_tokens=sum(len(text.split()) for text in texts),
            ),
            seconds=self._seconds,
        )

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; all samples come at the end of the time."""
        response = self.complete(request)
        yield from response.samples
        return response

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """Return None: a script has no probabilities."""


def _script_of_texts(texts: list[str]) -> Script:
    lock = threading.Lock()
    position = 0

    def script(request: ChatRequest) -> Sequence[str]:
        nonlocal position
        with lock:
            start, position = position, position + request.n
        return [texts[min(start + index, len(texts) - 1)] for index in range(request.n)]

    return script
