"""A model that somebody plays by hand: prompts are files, and so are the answers to them."""

import json
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
    Usage,
)

PROMPT, ANSWER = ".prompt.txt", ".answer.json"
CHARACTERS_PER_TOKEN = 4
_LOOKED_EVERY_S = 0.2
_SETTLED_S = 1.5
"""For which a file that is no JSON stays as it is before it is taken as the answer."""


class HandPlayedModel:
    """Implements `ChatModel`: writes `NNN.prompt.txt` and waits for `NNN.answer.json`.

    Prompts that `replay` has an answer for are answered by it; those that the folder itself has,
    too, so that a play that broke off is taken up.
    """

    name = "hand"

    def __init__(self, folder: Path, *, within_s: float, replay: Path | None = None) -> None:
        """`within_s`: longest that an answer is waited for."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._within_s = within_s
        self._answers = {**_played(replay), **_played(folder)} if replay else _played(folder)
        self._number = 0
        self.prompt_count = 0
        self.replayed = 0

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`; one sample, tokens by the characters."""
        prompt = prompt_of(request.messages)
        self.prompt_count += 1
        begun = time.monotonic()
        text = self._answers.get(prompt)
        if text is None:
            text = self._wait_for(prompt)
            self._answers[prompt] = text
        else:
            self.replayed += 1
        return ChatResponse(
            samples=(Sample(text=text),),
            model=self.name,
            usage=Usage(
                prompt_tokens=len(prompt) // CHARACTERS_PER_TOKEN,
                completion_tokens=len(text) // CHARACTERS_PER_TOKEN,
            ),
            seconds=time.monotonic() - begun,
        )

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`."""
        response = self.complete(request)
        yield from response.samples
        return response

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """None: nobody tells them by hand."""

    def _wait_for(self, prompt: str) -> str:
        while True:
            self._number += 1
            path = self._folder / f"{self._number:03}{PROMPT}"
            if not path.exists():
                break
        path.write_text(prompt)
        answer, by = path.with_name(path.name.replace(PROMPT, ANSWER)), self._within_s
        ends = time.monotonic() + by
        while time.monotonic() < ends:
            if (text := _settled(answer)) is not None:
                return text
            time.sleep(_LOOKED_EVERY_S)
        raise ModelUnavailableError(f"nobody wrote {answer} within {by:.0f} s")


def prompt_of(messages: Sequence[Message]) -> str:
    """The messages as one text."""
    return "\n".join(f"##### {each.role}\n{each.content}\n" for each in messages)


def _played(folder: Path) -> dict[str, str]:
    """Answers by their prompts."""
    answers = {}
    for path in sorted(folder.glob(f"*{PROMPT}")):
        answer = path.with_name(path.name.replace(PROMPT, ANSWER))
        if answer.exists() and answer.read_text().strip():
            answers[path.read_text()] = answer.read_text()
    return answers


def _settled(path: Path) -> str | None:
    """What stands in the file once it is written; a file that is no JSON is given time."""
    if not path.exists() or not (text := path.read_text()).strip():
        return None
    try:
        json.loads(text)
    except ValueError:
        if time.time() - path.stat().st_mtime < _SETTLED_S:
            return None
    return text
