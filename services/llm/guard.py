"""What stands between the platform and a model: retries, a circuit breaker, limits, a budget."""

import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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
)
from services.llm.tokens import estimated

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
"""Stands for the model where none is set, so that its series are there, and zero."""

FAIR_S = 5.0
"""A call that was given less time and did not end in it says nothing about the model."""

_log = structlog.get_logger()


class CircuitOpenError(ModelUnavailableError):
    """Calls before this one failed; this one was not made, so nothing is said about it."""

    def __init__(self, message: str, again_in_s: float = 0.0) -> None:
        """`again_in_s` is when the model is asked again."""
        super().__init__(message)
        self.again_in_s = again_in_s


def start_counting(model: str = NO_MODEL) -> None:
    """Make the series of a model be there before it is called."""
    start_at_zero(CALLS, [model], ("answered", "unavailable", "crowded_out"))
    start_at_zero(TOKENS, [model], ("in", "out"))
    for metric in (COST, SECONDS, BREAKER):
        start_at_zero(metric, [model])


def guarded(model: ChatModel) -> "GuardedChatModel":
    """The model behind a guard, its own where it has one."""
    return model if isinstance(model, GuardedChatModel) else GuardedChatModel(model)


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in whatever currency the budget is in."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, usage: Usage) -> float:
        """What a call costs."""
        spent = self.tokens_in * usage.prompt_tokens + self.tokens_out * usage.completion_tokens
        return spent / 1_000_000


class Budget:
    """Tokens and money that one ticket may still cost. Safe to share between threads."""

    def __init__(
        self, max_tokens: int, *, max_cost: float = math.inf, prices: Prices | None = None
    ) -> None:
        """Without prices only tokens count."""
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
        """Let the next call pass, or not.

        Raises:
            BudgetExceededError: Nothing is left.
        """
        if self.spent.total >= self._max_tokens:
            raise BudgetExceededError(f"the ticket has used its {self.spent.total} tokens")
        if self.cost >= self._max_cost:
            raise BudgetExceededError(f"the ticket has cost {self.cost:.4f}, all that it may")

    def spend(self, usage: Usage) -> None:
        """Note what a call cost."""
        with self._lock:
            self.spent += usage


class CircuitBreaker:
    """Opens after `failures` in a row and stays open for `pause_s`; then one call may try."""

    def __init__(self, *, failures: int = 5, pause_s: float = 15.0) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._failures = 0
        self._closed_at = 0.0
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether the last calls have all failed."""
        return self._failures >= self._limit

    def check(self) -> None:
        """Let a call pass, or not.

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
        """Tell how a call went."""
        with self._lock:
            self._failures = 0 if success else self._failures + 1
            if self._failures >= self._limit:
                self._closed_at = time.monotonic() + self._pause_s


@dataclass
class _GuardedStream:
    """A stream while it is written."""

    request: ChatRequest
    calls: int = 0
    came: list[Sample] = field(default_factory=list)

    def estimate(self, model: str) -> ChatResponse:
        """What it cost so far, as long as its end, which tells the usage, has not come."""
        asked = estimated(message.content for message in self.request.messages)
        written = estimated(sample.text for sample in self.came)
        usage = Usage(prompt_tokens=self.calls * asked, completion_tokens=written)
        return ChatResponse(samples=tuple(self.came), model=model, usage=usage)


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
        prices: Prices | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`in_flight` calls at once; a further one waits its turn, no longer than it has time."""
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
        """The same model, limits and circuit, for one ticket and one thread."""
        twin = GuardedChatModel(
            self._model,
            tries=self._tries,
            breaker=self._breaker,
            budget=budget,
            prices=self.prices,
            sleep=self._sleep,
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

        def answer(left_s: float | None) -> ChatResponse:
            return self._model.complete(_within(request, left_s))

        response = self._with_retries(answer, ends)
        self._account(request, response)
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; asked again only while no sample has come.

        A stream that breaks off, or that nobody wants to the end, is taken at an estimate.

        Raises:
            BudgetExceededError: The ticket's tokens are spent.
        """
        if self._budget:
            self._budget.check()
        asked = _GuardedStream(request)
        response: ChatResponse | None = None
        try:
            response = yield from self._streamed(asked, _ends(request))
            return response
        finally:
            if asked.calls:
                self._account(request, response or asked.estimate(self.name))

    def _streamed(self, asked: "_GuardedStream", ends: float) -> SampleStream:
        for attempt in range(1, self._tries + 1):
            samples = self._once_streamed(asked, ends)
            try:
                while True:
                    sample = next(samples)
                    asked.came.append(sample)
                    yield sample
            except StopIteration as end:
                response: ChatResponse = end.value
                return response
            except ModelUnavailableError as error:
                if asked.came or attempt == self._tries or not self._pause(attempt, error, ends):
                    raise
            finally:
                samples.close()
        raise AssertionError("a call answers or raises")

    def _once_streamed(self, asked: "_GuardedStream", ends: float) -> SampleStream:
        self._breaker.check()
        with self._place(_left(ends)), self._span("stream"):
            left_s = _left(ends)
            start = time.perf_counter()
            asked.calls += 1
            try:
                response = yield from self._model.stream(_within(asked.request, left_s))
            except ModelUnavailableError:
                self._failed(left_s)
                raise
        self._answered(start)
        return response

    def check(self) -> None:
        """Tell whether the model is asked at all, without asking it.

        Raises:
            ModelUnavailableError: It failed repeatedly, and is left alone for a while.
        """
        if self._breaker.is_open:
            raise ModelUnavailableError(f"{self.name!r} failed repeatedly")

    @contextmanager
    def _place(self, within_s: float | None) -> Iterator[None]:
        """One of the places for calls; it says nothing about the model that none comes free.

        A ticket that has one asks its corrections in it: if each waited for a second one, nobody
        would go on.
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
        ends = time.monotonic() + timeout_s if timeout_s else math.inf

        def tell(left_s: float | None) -> list[float] | None:
            return self._model.log_probabilities(messages, text, timeout_s=left_s)

        return self._with_retries(tell, ends)

    def _with_retries(self, call: Callable[[float | None], Result], ends: float) -> Result:
        failure: ModelUnavailableError | None = None
        for attempt in range(1, self._tries + 1):
            try:
                return self._once(call, ends)
            except ModelUnavailableError as error:
                # A call that failed by itself says so, not that it opened the circuit by that.
                if failure is None or not isinstance(error, CircuitOpenError):
                    failure = error
                if attempt == self._tries or not self._pause(attempt, error, ends):
                    raise failure from None
        raise AssertionError("a call answers or raises")

    def _pause(self, attempt: int, error: ModelUnavailableError, ends: float) -> bool:
        """Wait before the next try; False where there is no time for one."""
        _log.warning("llm.call_failed", model=self.name, attempt=attempt, reason=str(error))
        pause = random.uniform(0.5, 1.0) * 2 ** (attempt - 1)  # noqa: S311 - jitter
        if time.monotonic() + pause >= ends:
            return False
        self._sleep(pause)
        return True

    def _once(self, call: Callable[[float | None], Result], ends: float) -> Result:
        self._breaker.check()
        with self._place(_left(ends)), self._span("call"):
            left_s = _left(ends)
            start = time.perf_counter()
            try:
                result = call(left_s)
            except ModelUnavailableError:
                self._failed(left_s)
                raise
        self._answered(start)
        return result

    def _span(self, what: str) -> AbstractContextManager[tracing.Span]:
        return tracing.leaf(f"llm {what}", model=self.name)

    def _failed(self, given_s: float | None) -> None:
        CALLS.labels(self.name, "unavailable").inc()
        if given_s is None or given_s >= FAIR_S:
            self._note(success=False)

    def _note(self, *, success: bool) -> None:
        self._breaker.note(success=success)
        BREAKER.labels(self.name).set(self._breaker.is_open)

    def _answered(self, start: float) -> None:
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


def _ends(request: ChatRequest) -> float:
    """When the whole call must be over, on the monotonic clock."""
    return time.monotonic() + request.timeout_s if request.timeout_s else math.inf


def _left(ends: float) -> float | None:
    """Seconds; None without an end.

    Raises:
        ModelUnavailableError: None are left.
    """
    if ends == math.inf:
        return None
    left = ends - time.monotonic()
    if left <= 0:
        raise ModelUnavailableError("no time is left for a call to the model")
    return left


def _within(request: ChatRequest, left_s: float | None) -> ChatRequest:
    return request.model_copy(update={"timeout_s": left_s})
