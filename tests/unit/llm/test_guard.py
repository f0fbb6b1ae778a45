import threading
import time
from functools import partial

import pytest
from prometheus_client import REGISTRY

from services.llm.chat_model import (
    BudgetExceededError,
    ChatRequest,
    Message,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.guard import Budget, CircuitBreaker, CircuitOpenError, GuardedChatModel, Prices
from services.llm.scripted import ScriptedChatModel

REQUEST = ChatRequest(messages=(Message(role="user", content="one two three"),))


def failing(times, error=ModelUnavailableError):
    left = [times]

    def script(request):
        if left[0] > 0:
            left[0] -= 1
            raise error("not now")
        return ["yes"] * request.n

    return ScriptedChatModel(script)


def guard(model, **options):
    return GuardedChatModel(model, sleep=lambda _seconds: None, **options)


def test_an_unavailable_model_is_asked_again():
    model = failing(2)
    assert guard(model).complete(REQUEST).samples[0].text == "yes"
    assert len(model.requests) == 3


def test_after_the_last_try_the_error_comes_through():
    with pytest.raises(ModelUnavailableError):
        guard(failing(3)).complete(REQUEST)


def test_a_refusal_is_not_repeated():
    model = failing(1, ModelRefusedError)
    with pytest.raises(ModelRefusedError):
        guard(model).complete(REQUEST)
    assert len(model.requests) == 1


def test_the_circuit_opens_after_failures_and_closes_after_a_success(monkeypatch):
    model = failing(4)
    breaker = CircuitBreaker(failures=4, pause_s=60)
    guarded = guard(model, tries=1, breaker=breaker)
    for _ in range(4):
        with pytest.raises(ModelUnavailableError):
            guarded.complete(REQUEST)
    with pytest.raises(ModelUnavailableError, match="repeatedly"):
        guarded.complete(REQUEST)
    assert len(model.requests) == 4, "an open circuit asks nobody"
    later = time.monotonic() + 61
    monkeypatch.setattr("services.llm.guard.time.monotonic", lambda: later)
    assert guarded.complete(REQUEST).samples[0].text == "yes"
    assert guarded.complete(REQUEST).samples[0].text == "yes"


def test_a_call_that_opened_the_circuit_by_its_own_failures_says_how_it_failed():
    guarded = guard(failing(9), breaker=CircuitBreaker(failures=2))
    with pytest.raises(ModelUnavailableError) as own:
        guarded.complete(REQUEST)
    with pytest.raises(CircuitOpenError) as following:
        guarded.complete(REQUEST)
    assert not isinstance(own.value, CircuitOpenError)
    assert 0 < following.value.again_in_s <= 15


def test_a_spent_budget_stops_the_next_call():
    budget = Budget(4)
    guarded = guard(failing(0)).with_budget(budget)
    guarded.complete(REQUEST)
    assert budget.spent.total == 4
    with pytest.raises(BudgetExceededError):
        guarded.complete(REQUEST)


def test_a_spent_sum_stops_the_next_call():
    prices = Prices(tokens_in=1_000_000, tokens_out=2_000_000)
    budget = Budget(1000, max_cost=4, prices=prices)
    guarded = guard(failing(0), prices=prices).with_budget(budget)
    guarded.complete(REQUEST)
    assert budget.cost == 3 * 1 + 1 * 2
    with pytest.raises(BudgetExceededError, match="cost"):
        guarded.complete(REQUEST)


def test_a_call_that_gets_no_place_in_its_time_is_refused_and_leaves_the_circuit_closed():
    busy, done = threading.Event(), threading.Event()

    def script(request):
        busy.set()
        done.wait(5)
        return ["yes"]

    guarded = guard(ScriptedChatModel(script), in_flight=1, breaker=CircuitBreaker(failures=1))
    first = threading.Thread(target=guarded.complete, args=(REQUEST,))
    first.start()
    busy.wait(5)
    hurried = REQUEST.model_copy(update={"timeout_s": 0.05})
    with pytest.raises(ModelUnavailableError, match="came free"):
        guarded.complete(hurried)
    with pytest.raises(ModelUnavailableError, match="came free"):
        next(guarded.stream(hurried))
    done.set()
    first.join()
    assert guarded.complete(REQUEST).samples[0].text == "yes"


def test_a_stream_is_asked_again_only_while_nothing_has_arrived():
    class Breaking(ScriptedChatModel):
        def stream(self, request):
            yield self.complete(request).samples[0]
            raise ModelUnavailableError("gone")

    model = Breaking(["one"])
    stream = guard(model).stream(REQUEST)
    assert next(stream).text == "one"
    with pytest.raises(ModelUnavailableError):
        next(stream)
    assert len(model.requests) == 1
    late = failing(2)
    assert [sample.text for sample in guard(late).stream(REQUEST)] == ["yes"]
    assert len(late.requests) == 3


def test_no_more_calls_than_allowed_are_in_flight():
    at_once, most, lock = [0], [0], threading.Lock()

    def script(request):
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.01)
        with lock:
            at_once[0] -= 1
        return ["yes"]

    guarded = guard(ScriptedChatModel(script), in_flight=2)
    threads = [threading.Thread(target=guarded.complete, args=(REQUEST,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 2


def test_a_ticket_asks_its_corrections_in_the_place_it_has():
    guarded = guard(ScriptedChatModel(["first", "second"]), in_flight=1)
    ticket = guarded.with_budget(Budget(1000))
    hurried = REQUEST.model_copy(update={"timeout_s": 5})
    stream = ticket.stream(hurried)
    assert next(stream).text == "first"
    assert ticket.complete(hurried).samples[0].text == "second"
    stream.close()
    assert guarded.complete(hurried).samples


def test_calls_without_time_say_nothing_about_the_model():
    guarded = guard(failing(4), tries=1, breaker=CircuitBreaker(failures=2))
    for _ in range(4):
        with pytest.raises(ModelUnavailableError, match="not now"):
            guarded.complete(REQUEST.model_copy(update={"timeout_s": 0.5}))
    assert guarded.complete(REQUEST).samples[0].text == "yes"


def test_a_stream_that_is_given_up_is_taken_at_an_estimate():
    budget = Budget(1000)
    stream = guard(ScriptedChatModel(["a word or two"])).with_budget(budget).stream(REQUEST)
    next(stream)
    stream.close()
    assert budget.spent.prompt_tokens > 0
    assert budget.spent.completion_tokens > 0


def test_a_model_that_is_left_alone_is_told_and_is_no_more_when_it_answers():
    model = guard(failing(1), tries=1, breaker=CircuitBreaker(failures=1, pause_s=0))
    state = partial(
        REGISTRY.get_sample_value, "flowxpert_llm_breaker_open_state", {"model": model.name}
    )
    assert state() == 0
    with pytest.raises(ModelUnavailableError):
        model.complete(REQUEST)
    assert state() == 1
    with pytest.raises(ModelUnavailableError):
        model.check()
    model.complete(REQUEST)
    assert state() == 0
    model.check()
