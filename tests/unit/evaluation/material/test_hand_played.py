"""A model that is played by hand: files in a folder, and earlier plays again."""

import threading

import pytest

from evaluation.material.hand_played import HandPlayedModel
from services.llm.chat_model import ChatRequest, Message, ModelUnavailableError
from tests.waiting import eventually


def request_for(text):
    return ChatRequest(messages=(Message(role="user", content=text),))


def answering(folder, number, text):
    def write():
        eventually((folder / f"{number:03}.prompt.txt").exists)
        (folder / f"{number:03}.answer.json").write_text(text)

    threading.Thread(target=write).start()


def test_a_prompt_is_written_and_its_answer_taken(tmp_path):
    model = HandPlayedModel(tmp_path, within_s=10)
    answering(tmp_path, 1, '{"a": 1}')
    response = model.complete(request_for("why?"))
    assert response.samples[0].text == '{"a": 1}'
    assert "why?" in (tmp_path / "001.prompt.txt").read_text()
    assert response.usage.completion_tokens == 2


def test_nobody_answers_in_time(tmp_path):
    with pytest.raises(ModelUnavailableError, match=r"001\.answer\.json"):
        HandPlayedModel(tmp_path, within_s=0.3).complete(request_for("why?"))


def test_an_earlier_play_answers_the_same_prompt(tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    model = HandPlayedModel(first, within_s=10)
    answering(first, 1, '{"a": 1}')
    model.complete(request_for("why?"))
    replayed = HandPlayedModel(again, within_s=0.3, replay=first)
    assert replayed.complete(request_for("why?")).samples[0].text == '{"a": 1}'
    with pytest.raises(ModelUnavailableError):
        replayed.complete(request_for("what else?"))


def test_a_play_that_broke_off_is_taken_up(tmp_path):
    answering(tmp_path, 1, "{}")
    HandPlayedModel(tmp_path, within_s=10).complete(request_for("one"))
    resumed = HandPlayedModel(tmp_path, within_s=10)
    assert resumed.complete(request_for("one")).samples[0].text == "{}"
    answering(tmp_path, 2, "[]")
    assert resumed.complete(request_for("two")).samples[0].text == "[]"
