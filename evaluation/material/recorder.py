"""Record what a model answers and replay it: benchmarks that resume, tests that need no model."""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from services.kit.files import UnusableFileError
from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelUnavailableError,
    SampleStream,
)


class RecordingChatModel:
    """Answers from a file what it was asked before, asks `model` otherwise and remembers.

    The key is the whole request and the model's name. Without a model it only replays.
    """

    def __init__(self, path: Path, model: ChatModel | None = None, *, name: str = "") -> None:
        """`name` stands for the model where none is given.

        Raises:
            UnusableFileError: The file holds something else.
        """
        self.name = model.name if model else name
        self._model = model
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = sqlite3.connect(path, check_same_thread=False)
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT)"
            )
        except sqlite3.DatabaseError as error:
            raise UnusableFileError(f"expected recorded answers in {path}: {error}") from error

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`.

        Raises:
            ModelUnavailableError: Nothing was recorded for this and there is no model to ask.
        """
        key = self._key(request.model_dump_json())
        recorded = self._recorded(key)
        if recorded:
            return ChatResponse.model_validate_json(recorded)
        response = self._require_model().complete(request)
        self._record(key, response.model_dump_json())
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; what was recorded comes at once, what breaks off is not recorded.

        Raises:
            ModelUnavailableError: Nothing was recorded for this and there is no model to ask.
        """
        key = self._key(request.model_dump_json())
        recorded = self._recorded(key)
        if recorded:
            response = ChatResponse.model_validate_json(recorded)
            yield from response.samples
            return response
        response = yield from self._require_model().stream(request)
        self._record(key, response.model_dump_json())
        return response

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """See `ChatModel.log_probabilities`."""
        request_text = json.dumps([[message.model_dump() for message in messages], text])
        key = self._key(request_text)
        recorded = self._recorded(key)
        if recorded:
            return [float(value) for value in json.loads(recorded)]
        log_probs = (
            self._model.log_probabilities(messages, text, timeout_s=timeout_s)
            if self._model
            else None
        )
        if log_probs is not None:
            self._record(key, json.dumps(log_probs))
        return log_probs

    def _require_model(self) -> ChatModel:
        if self._model is None:
            raise ModelUnavailableError(f"no answer of {self.name!r} was recorded for this request")
        return self._model

    def _key(self, request_text: str) -> str:
        return hashlib.sha256(f"{self.name}\0{request_text}".encode()).hexdigest()

    def _recorded(self, key: str) -> str:
        with self._lock:
            row = self._file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def _record(self, key: str, answer: str) -> None:
        with self._lock, self._file:
            self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))
