import time

import pytest

from evaluation.material.metered import MeteredChatModel, Spent
from services.llm.chat_model import ChatRequest, Message, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel


def asking(n=1):
    return ChatRequest(messages=(Message(role="user", content="two words"),), n=n)


def test_calls_tokens_and_seconds_add_up():
    meter = MeteredChatModel(ScriptedChatModel(["a b c"], seconds=0.01))
    meter.complete(asking())
    meter.complete(asking(n=2))
    spent = meter.spent
    assert (spent.calls, spent.tokens_in, spent.tokens_out) == (2, 4, 9)
    assert spent.seconds == pytest.approx(0.02)
    assert spent.busy >= 0.02


def test_a_stream_hands_on_its_samples_and_its_end():
    meter = MeteredChatModel(ScriptedChatModel(["a", "b"]))
    stream = meter.stream(asking(n=2))
    assert [next(stream).text, next(stream).text] == ["a", "b"]
    with pytest.raises(StopIteration) as end:
        next(stream)
    assert len(end.value.value.samples) == 2
    assert meter.spent.calls == 1


def test_what_the_caller_does_between_samples_is_not_the_models_time():
    meter = MeteredChatModel(ScriptedChatModel(["a"], seconds=0.01))
    begun = time.monotonic()
    for _ in meter.stream(asking(n=3)):
        time.sleep(0.3)
    assert 0.01 <= meter.spent.busy <= time.monotonic() - begun - 3 * 0.3


def test_failures_in_a_row_are_forgotten_with_the_next_answer():
    answers = iter([None, None, ["fine"]])

    def script(_request):
        answer = next(answers)
        if answer is None:
            raise ModelUnavailableError("down")
        return answer

    meter = MeteredChatModel(ScriptedChatModel(script))
    for _ in range(2):
        with pytest.raises(ModelUnavailableError):
            meter.complete(asking())
    assert meter.failures_in_row == meter.spent.failures == 2
    meter.complete(asking())
    assert meter.failures_in_row == 0
    assert meter.spent.failures == 2


def test_what_was_spent_after_a_moment_is_the_difference():
    assert Spent(5, 1, 100, 50, 3.0, 2.0).since(Spent(2, 1, 40, 50, 1.0, 0.5)) == Spent(
        3, 0, 60, 0, 2.0, 1.5
    )
