"""A chat model whose answers are files: whoever looks at a prompt writes the answer beside it."""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

from services.llm.chat_model import (
    ChatRequest,
    ChatResponse,
    Message,
    ModelUnavailableError,
    Sample,
    SampleStream,
)

LOOKED_EVERY_S = 0.5


class FileChatModel:
    """Writes `HASH.prompt.md` into a folder, and waits until `HASH.answer.md` is there.

    The same messages have the same hash, so that what was answered once is answered again.
    """

    name = "answered-by-file"

    def __init__(self, folder: Path, *, waits_s: float) -> None:
        """With `waits_s` of 0 only what is there already is answered."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._waits_s = waits_s

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`; nobody answers in time: it is unavailable."""
        text = "\n\n".join(f"# {each.role}\n\n{each.content}" for each in request.messages)
        hashed = hashlib.sha256(text.encode()).hexdigest()[:16]
        prompt, answer = (self._folder / f"{hashed}.{what}.md" for what in ("prompt", "answer"))
        if not prompt.exists():
            prompt.write_text(text)
        by = time.monotonic() + self._waits_s
        while not answer.exists():
            if time.monotonic() >= by:
                raise ModelUnavailableError(f"nobody has answered {prompt}")
            time.sleep(LOOKED_EVERY_S)
        return ChatResponse(samples=(Sample(text=answer.read_text()),), model=self.name)

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; all of it comes at once."""
        response = self.complete(request)
        yield from response.samples
        return response

    def log_probabilities(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the port's
        text: str,  # noqa: ARG002 - the port's
        *,
        timeout_s: float | None = None,  # noqa: ARG002 - the port's
    ) -> list[float] | None:
        """None: files have no opinion."""
        return None
