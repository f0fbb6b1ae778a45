"""Guard around a model: retries, a circuit breaker, limits and a budget."""

import copy
import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import structlog
from prometheus_client import Counter, Gauge, Histogram

from services.kit.observability import tracing
from services.kit.observability.metrics import start_at_zero
from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelUnavailableError,
    Sample,
    SampleStream,
    Usage,
    estimate_tokens,
)

Result = TypeVar("Result")

CALLS = Counter("flowxpert_llm_calls_total", "Model calls by outcome.", ["model", "outcome"])
TOKENS = Counter("flowxpert_llm_tokens_total", "Tokens by direction.", ["model", "direction"])
COST = Counter(
    "flowxpert_llm_cost_total", "What the tokens cost by the prices that are set.", ["model"]
)
SECONDS = Histogram(
    "flowxpert_llm_call_seconds",
    "Time of one model call, retries excluded.",
    ["model"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160),
)

BREAKER = Gauge(
    "flowxpert_llm_breaker_open_state",
    "1 while a model that failed repeatedly is left alone, else 0.",
    ["model"],
)

NO_MODEL = "none"
"""Label value used if no model is set, so that the series exist with zero."""

FAIR_S = 5.0
"""A call with a shorter time limit that timed out says nothing about the model."""

_log = structlog.get_logger()


class CircuitOpenError(ModelUnavailableError):
    """Earlier calls failed, so this one was not made; it says nothing about the model."""

    def __init__(self, message: str, again_in_s: float = 0.0) -> None:
        """Build the error; `again_in_s` is the time until the model is called again."""
        super().__init__(message)
        self.again_in_s = again_in_s


def start_counting(model: str = NO_MODEL) -> None:
    """Create the series of a model before its first call."""
    start_at_zero(CALLS, [model], ("answered", "unavailable", "crowded_out"))
    start_at_zero(TOKENS, [model], ("in", "out"))
    for metric in (COST, SECONDS, BREAKER):
        start_at_zero(metric, [model])


def guard_model(model: ChatModel) -> "GuardedChatModel":
    """Wrap the model in a guard, unless it has one."""
    return model if isinstance(model, GuardedChatModel) else GuardedChatModel(model)


@dataclass(frozen=True)
class Prices:
    """Price of a million tokens, in the currency of the budget."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, usage: Usage) -> float:
        """Return the price of a call."""
        spent = self.tokens_in * usage.prompt_tokens + self.tokens_out * usage.completion_tokens
        return spent / 1_000_000


class Budget:
    """Tokens and money that one ticket may still cost. Safe to share between threads."""

    def __init__(
        self, max_tokens: int, *, max_cost: float = math.inf, prices: Prices | None = None
    ) -> None:
        """Set the limits; without prices only tokens count."""
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._prices = prices or Prices()
        self._lock = threading.Lock()
        self.spent = Usage()

    @property
    def cost(self) -> float:
        """The money spent so far."""
        return self._prices.of(self.spent)

    def check(self) -> None:
        """Check that the next call is within the budget.

        Raises:
            BudgetExceededError: Nothing is left.
        """
        if self.spent.total >= self._max_tokens:
            raise BudgetExceededError(f"the ticket has used its {self.spent.total} tokens")
        if self.cost >= self._max_cost:
            raise BudgetExceededError(f"the ticket has cost {self.cost:.4f}, all that it may")

    def spend(self, usage: Usage) -> None:
        """Record the usage of a call."""
        with self._lock:
            self.spent += usage


class CircuitBreaker:
    """Breaker that opens after `failures` in a row for `pause_s`; then one call may try."""

    def __init__(self, *, failures: int = 5, pause_s: float = 15.0) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._failures = 0
        self._closed_at = 0.0
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """True if the last calls have all failed."""
        return self._failures >= self._limit

    def check(self) -> None:
        """Check that a call may be made.

        Raises:
            CircuitOpenError: The circuit is open.
        """
        with self._lock:
            if self._failures < self._limit:
                return
            left = self._closed_at - time.monotonic()
            if left > 0:
                raise CircuitOpenError(
                    f"the model failed repeatedly; asked again in {left:.0f} s", left
                )
            self._closed_at = time.monotonic() + self._pause_s  # this caller tries, others wait

    def note(self, *, success: bool) -> None:
        """Record the outcome of a call."""
        with self._lock:
            self._failures = 0 if success else self._failures + 1
            if self._failures >= self._limit:
                self._closed_at = time.monotonic() + self._pause_s


@dataclass
class _GuardedStream:
    """Progress of one streamed answer."""

    request: ChatRequest
    calls: int = 0
    samples: list[Sample] = field(default_factory=list)

    def estimate(self, model: str) -> ChatResponse:
        """Estimate the usage so far, because only the end of a stream reports it."""
        prompt_tokens = estimate_tokens(message.content for message in self.request.messages)
        written = estimate_tokens(sample.text for sample in self.samples)
        usage = Usage(prompt_tokens=self.calls * prompt_tokens, completion_tokens=written)
        return ChatResponse(samples=tuple(self.samples), model=model, usage=usage)


class GuardedChatModel:
    """Chat model with limits on time, retries, concurrent calls and tokens."""

    def __init__(
        self,
        model: ChatModel,
        *,
        tries: int = 3,
        in_flight: int = 8,
        breaker: CircuitBreaker | None = None,
        budget: Budget | None = None,
        prices: Prices | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Wrap `model`; at most `in_flight` calls at once, further ones wait within their limit."""
        self.name = model.name
        start_counting(model.name)
        self.prices = prices or Prices()
        self._model = model
        self._tries = tries
        self._places = threading.BoundedSemaphore(in_flight)
        self._breaker = breaker or CircuitBreaker()
        self._budget = budget
        self._has_place = False
        self._sleep = sleep

    def with_budget(self, budget: Budget) -> "GuardedChatModel":
        """Return the same model, limits and circuit with a budget, for one ticket and thread."""
        twin = copy.copy(self)
        twin._budget, twin._has_place = budget, False
        return twin

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`.

        Raises:
            BudgetExceededError: The ticket's tokens are spent.
        """
        if self._budget:
            self._budget.check()
        ends = _deadline(request.timeout_s)

        def answer(left_s: float | None) -> ChatResponse:
            return self._model.complete(request.model_copy(update={"timeout_s": left_s}))

        response = self._with_retries(answer, ends)
        self._account(request, response)
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; retried only before the first sample has arrived.

        The usage of a stream that breaks off or is closed early is estimated.

        Raises:
            BudgetExceededError: The ticket's tokens are spent.
        """
        if self._budget:
            self._budget.check()
        progress = _GuardedStream(request)
        response: ChatResponse | None = None
        try:
            response = yield from self._stream_with_retries(progress, _deadline(request.timeout_s))
            return response
        finally:
            if progress.calls:
                self._account(request, response or progress.estimate(self.name))

    def _stream_with_retries(self, progress: "_GuardedStream", ends: float) -> SampleStream:
        for attempt in range(1, self._tries + 1):
            samples = self._stream_once(progress, ends)
            try:
                while True:
                    sample = next(samples)
                    progress.samples.append(sample)
                    yield sample
            except StopIteration as end:
                response: ChatResponse = end.value
                return response
            except ModelUnavailableError as error:
                if (
                    progress.samples
                    or attempt == self._tries
                    or not self._pause(attempt, error, ends)
                ):
                    raise
            finally:
                samples.close()
        raise AssertionError("a call answers or raises")

    def _stream_once(self, progress: "_GuardedStream", ends: float) -> SampleStream:
        self._breaker.check()
        with self._slot(_remaining_s(ends)), tracing.leaf_span("llm stream", model=self.name):
            left_s = _remaining_s(ends)
            start = time.perf_counter()
            progress.calls += 1
            try:
                request = progress.request.model_copy(update={"timeout_s": left_s})
                response = yield from self._model.stream(request)
            except ModelUnavailableError:
                self._record_failure(left_s)
                raise
        self._record_success(start)
        return response

    def check(self) -> None:
        """Check that the circuit is closed, without calling the model.

        Raises:
            ModelUnavailableError: It failed repeatedly, and is left alone for a while.
        """
        if self._breaker.is_open:
            raise ModelUnavailableError(f"{self.name!r} failed repeatedly")

    @contextmanager
    def _slot(self, within_s: float | None) -> Iterator[None]:
        """Take one of the slots for concurrent calls; a timeout here is no fault of the model.

        A ticket that holds a slot makes its corrective calls in it: if each waited for a second
        slot, none could go on.
        """
        if self._has_place:
            yield
            return
        if not self._places.acquire(timeout=within_s):
            CALLS.labels(self.name, "crowded_out").inc()
            raise ModelUnavailableError(f"no call to {self.name!r} came free in {within_s:.0f} s")
        self._has_place = self._budget is not None
        try:
            yield
        finally:
            self._has_place = False
            self._places.release()

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """See `ChatModel.log_probabilities`."""

        def tell(left_s: float | None) -> list[float] | None:
            return self._model.log_probabilities(messages, text, timeout_s=left_s)

        return self._with_retries(tell, _deadline(timeout_s))

    def _with_retries(self, call: Callable[[float | None], Result], ends: float) -> Result:
        failure: ModelUnavailableError | None = None
        for attempt in range(1, self._tries + 1):
            try:
                return self._call_once(call, ends)
            except ModelUnavailableError as error:
                # A call that failed by itself says so, not that it opened the circuit by that.
                if failure is None or not isinstance(error, CircuitOpenError):
                    failure = error
                if attempt == self._tries or not self._pause(attempt, error, ends):
                    raise failure from None
        raise AssertionError("a call answers or raises")

    def _pause(self, attempt: int, error: ModelUnavailableError, ends: float) -> bool:
        """Wait before the next try; return False if there is no time for one."""
        _log.warning("llm.call_failed", model=self.name, attempt=attempt, reason=str(error))
        pause = random.uniform(0.5, 1.0) * 2 ** (attempt - 1)  # noqa: S311 - jitter
        if time.monotonic() + pause >= ends:
            return False
        self._sleep(pause)
        return True

    def _call_once(self, call: Callable[[float | None], Result], ends: float) -> Result:
        self._breaker.check()
        with self._slot(_remaining_s(ends)), tracing.leaf_span("llm call", model=self.name):
            left_s = _remaining_s(ends)
            start = time.perf_counter()
            try:
                result = call(left_s)
            except ModelUnavailableError:
                self._record_failure(left_s)
                raise
        self._record_success(start)
        return result

    def _record_failure(self, limit_s: float | None) -> None:
        CALLS.labels(self.name, "unavailable").inc()
        if limit_s is None or limit_s >= FAIR_S:
            self._note(success=False)

    def _note(self, *, success: bool) -> None:
        self._breaker.note(success=success)
        BREAKER.labels(self.name).set(self._breaker.is_open)

    def _record_success(self, start: float) -> None:
        self._note(success=True)
        CALLS.labels(self.name, "answered").inc()
        SECONDS.labels(self.name).observe(time.perf_counter() - start)

    def _account(self, request: ChatRequest, response: ChatResponse) -> None:
        usage = response.usage
        TOKENS.labels(self.name, "in").inc(usage.prompt_tokens)
        TOKENS.labels(self.name, "out").inc(usage.completion_tokens)
        COST.labels(self.name).inc(self.prices.of(usage))
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


def _deadline(timeout_s: float | None) -> float:
    """Return the deadline of the whole call, on the monotonic clock."""
    return time.monotonic() + timeout_s if timeout_s else math.inf


def _remaining_s(ends: float) -> float | None:
    """Return the seconds until the deadline; None without a deadline.

    Raises:
        ModelUnavailableError: None are left.
    """
    if ends == math.inf:
        return None
    left = ends - time.monotonic()
    if left <= 0:
        raise ModelUnavailableError("no time is left for a call to the model")
    return left
