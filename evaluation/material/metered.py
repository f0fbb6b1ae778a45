"""A chat model that notes what it costs, whether it answers now or from a record."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelRefusedError,
    ModelUnavailableError,
    SampleStream,
    Usage,
)


@dataclass(frozen=True)
class Spent:
    """What calls have cost so far."""

    calls: int = 0
    failures: int = 0
    """Calls that were not answered."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    """As the model took them when it was asked first; a recorded answer keeps its time."""
    busy: float = 0.0
    """Seconds in which at least one call was waited for, on this run's clock."""

    def since(self, before: "Spent") -> "Spent":
        """What was spent after `before`."""
        return Spent(
            calls=self.calls - before.calls,
            failures=self.failures - before.failures,
            tokens_in=self.tokens_in - before.tokens_in,
            tokens_out=self.tokens_out - before.tokens_out,
            seconds=self.seconds - before.seconds,
            busy=self.busy - before.busy,
        )

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            calls=self.calls + other.calls,
            failures=self.failures + other.failures,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            seconds=self.seconds + other.seconds,
            busy=self.busy + other.busy,
        )


NOTHING_SPENT = Spent()


class MeteredChatModel:
    """Hands every call on; `spent` is what they cost, `failures_in_row` how many failed last."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self.spent = NOTHING_SPENT
        self.failures_in_row = 0
        self._model = model
        self._lock = threading.Lock()
        self._under_way = 0
        self._busy_since = 0.0

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`."""
        with self._call():
            response = self._model.complete(request)
            self._answered(response.usage, response.seconds)
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; what the caller does between two samples is its own time."""
        samples = self._model.stream(request)
        try:
            while True:
                with self._call():
                    sample = next(samples)
                yield sample
        except StopIteration as end:
            response: ChatResponse = end.value
            self._answered(response.usage, response.seconds)
            return response
        finally:
            samples.close()

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """See `ChatModel.log_probabilities`; its tokens and seconds are not told."""
        with self._call():
            log_probs = self._model.log_probabilities(messages, text, timeout_s=timeout_s)
        if log_probs is not None:
            self._answered(Usage(), 0.0)
        return log_probs

    @contextmanager
    def _call(self) -> Iterator[None]:
        self._begin()
        try:
            yield
        except (ModelUnavailableError, ModelRefusedError):
            self._failed()
            raise
        finally:
            self._end()

    def _begin(self) -> None:
        with self._lock:
            if not self._under_way:
                self._busy_since = time.perf_counter()
            self._under_way += 1

    def _end(self) -> None:
        with self._lock:
            self._under_way -= 1
            if not self._under_way:
                busy = time.perf_counter() - self._busy_since
                self.spent = replace(self.spent, busy=self.spent.busy + busy)

    def _answered(self, usage: Usage, seconds: float) -> None:
        cost = Spent(1, 0, usage.prompt_tokens, usage.completion_tokens, seconds)
        with self._lock:
            self.spent += cost
            self.failures_in_row = 0

    def _failed(self) -> None:
        with self._lock:
            self.spent += Spent(calls=1, failures=1)
            self.failures_in_row += 1
