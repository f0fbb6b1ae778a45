"""What stands between the platform and a model: retries, a circuit breaker, limits, a budget."""

import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog
from prometheus_client import Counter, Histogram

from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelUnavailableError,
    SampleStream,
    Usage,
)

Result = TypeVar("Result")

CALLS = Counter("flowxpert_llm_calls_total", "Model calls by outcome.", ["model", "outcome"])
TOKENS = Counter("flowxpert_llm_tokens_total", "Tokens by direction.", ["model", "direction"])
SECONDS = Histogram(
    "flowxpert_llm_call_seconds",
    "Time of one model call, retries excluded.",
    ["model"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160),
)

_log = structlog.get_logger()


def guarded(model: ChatModel) -> "GuardedChatModel":
    """The model behind a guard, its own where it has one."""
    return model if isinstance(model, GuardedChatModel) else GuardedChatModel(model)


class Budget:
    """Tokens that one ticket may still cost. Safe to share between threads."""

    def __init__(self, max_tokens: int) -> None:
        self._left = max_tokens
        self._lock = threading.Lock()
        self.spent = Usage()

    def check(self) -> None:
        """Let the next call pass, or not.

        Raises:
            BudgetExceededError: Nothing is left.
        """
        if self._left <= 0:
            raise BudgetExceededError(f"the ticket has used its {self.spent.total} tokens")

    def spend(self, usage: Usage) -> None:
        """Note what a call cost."""
        with self._lock:
            self._left -= usage.total
            self.spent += usage


class CircuitBreaker:
    """Opens after `failures` in a row and stays open for `pause_s`; then one call may try."""

    def __init__(self, *, failures: int = 5, pause_s: float = 15.0) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._failures = 0
        self._closed_at = 0.0
        self._lock = threading.Lock()

    def check(self) -> None:
        """Let a call pass, or not.

        Raises:
            ModelUnavailableError: The circuit is open.
        """
        with self._lock:
            if self._failures < self._limit:
                return
            left = self._closed_at - time.monotonic()
            if left > 0:
                raise ModelUnavailableError(
                    f"the model failed repeatedly; asked again in {left:.0f} s"
                )
            self._closed_at = time.monotonic() + self._pause_s  # this caller tries, others wait

    def note(self, *, success: bool) -> None:
        """Tell how a call went."""
        with self._lock:
            self._failures = 0 if success else self._failures + 1
            if self._failures >= self._limit:
                self._closed_at = time.monotonic() + self._pause_s


class GuardedChatModel:
    """A chat model with manners: bounded in time, in tries, in calls at once and in tokens."""

    def __init__(
        self,
        model: ChatModel,
        *,
        tries: int = 3,
        in_flight: int = 8,
        breaker: CircuitBreaker | None = None,
        budget: Budget | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`in_flight` calls at once; a further one waits its turn."""
        self.name = model.name
        self._model = model
        self._tries = tries
        self._places = threading.BoundedSemaphore(in_flight)
        self._breaker = breaker or CircuitBreaker()
        self._budget = budget
        self._sleep = sleep

    def with_budget(self, budget: Budget) -> "GuardedChatModel":
        """The same model, limits and circuit, for one ticket."""
        twin = GuardedChatModel(
            self._model, tries=self._tries, breaker=self._breaker, budget=budget, sleep=self._sleep
        )
        twin._places = self._places
        return twin

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`.

        Raises:
            BudgetExceededError: The ticket's tokens are spent.
        """
        if self._budget:
            self._budget.check()
        ends = _ends(request)
        response = self._with_retries(lambda: self._model.complete(_before(request, ends)), ends)
        self._account(request, response)
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; asked again only while no sample has come.

        Raises:
            BudgetExceededError: The ticket's tokens are spent.
        """
        if self._budget:
            self._budget.check()
        ends = _ends(request)
        response = yield from self._streamed(request, ends)
        self._account(request, response)
        return response

    def _streamed(self, request: ChatRequest, ends: float) -> SampleStream:
        for attempt in range(1, self._tries + 1):
            came = 0
            samples = self._once_streamed(_before(request, ends))
            try:
                while True:
                    sample = next(samples)
                    came += 1
                    yield sample
            except StopIteration as end:
                response: ChatResponse = end.value
                return response
            except ModelUnavailableError as error:
                if came or attempt == self._tries or not self._pause(attempt, error, ends):
                    raise
            finally:
                samples.close()
        raise AssertionError("a call answers or raises")

    def _once_streamed(self, request: ChatRequest) -> SampleStream:
        self._breaker.check()
        with self._places:
            start = time.perf_counter()
            try:
                response = yield from self._model.stream(request)
            except ModelUnavailableError:
                self._failed()
                raise
        self._answered(start)
        return response

    def log_probabilities(self, messages: Sequence[Message], text: str) -> list[float] | None:
        """See `ChatModel.log_probabilities`."""
        return self._with_retries(lambda: self._model.log_probabilities(messages, text), math.inf)

    def _with_retries(self, call: Callable[[], Result], ends: float) -> Result:
        for attempt in range(1, self._tries):
            try:
                return self._once(call)
            except ModelUnavailableError as error:
                if not self._pause(attempt, error, ends):
                    raise
        return self._once(call)

    def _pause(self, attempt: int, error: ModelUnavailableError, ends: float) -> bool:
        """Wait before the next try; False where there is no time for one."""
        _log.warning("llm.call_failed", model=self.name, attempt=attempt, reason=str(error))
        pause = random.uniform(0.5, 1.0) * 2 ** (attempt - 1)  # noqa: S311 - jitter
        if time.monotonic() + pause >= ends:
            return False
        self._sleep(pause)
        return True

    def _once(self, call: Callable[[], Result]) -> Result:
        self._breaker.check()
        with self._places:
            start = time.perf_counter()
            try:
                result = call()
            except ModelUnavailableError:
                self._failed()
                raise
        self._answered(start)
        return result

    def _failed(self) -> None:
        self._breaker.note(success=False)
        CALLS.labels(self.name, "unavailable").inc()

    def _answered(self, start: float) -> None:
        self._breaker.note(success=True)
        CALLS.labels(self.name, "answered").inc()
        SECONDS.labels(self.name).observe(time.perf_counter() - start)

    def _account(self, request: ChatRequest, response: ChatResponse) -> None:
        usage = response.usage
        TOKENS.labels(self.name, "in").inc(usage.prompt_tokens)
        TOKENS.labels(self.name, "out").inc(usage.completion_tokens)
        if self._budget:
            self._budget.spend(usage)
        _log.info(
            "llm.called",
            prompt=request.prompt,
            model=response.model,
            tokens_in=usage.prompt_tokens,
            tokens_out=usage.completion_tokens,
            seconds=round(response.seconds, 3),
        )


def _ends(request: ChatRequest) -> float:
    """When the whole call must be over, on the monotonic clock."""
    return time.monotonic() + request.timeout_s if request.timeout_s else math.inf


def _before(request: ChatRequest, ends: float) -> ChatRequest:
    """The request with the time that is left."""
    if ends == math.inf:
        return request
    left = ends - time.monotonic()
    if left <= 0:
        raise ModelUnavailableError(f"no time is left of the {request.timeout_s:.0f} s")
    return request.model_copy(update={"timeout_s": left})
