import pytest

from evaluation.material.recorder import RecordingChatModel
from services.llm.chat_model import ChatRequest, Message, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel


def asking(text, **options):
    return ChatRequest(messages=(Message(role="user", content=text),), **options)


def test_the_same_request_reaches_the_model_once_even_after_a_restart(tmp_path):
    model = ScriptedChatModel(["first", "second"])
    path = tmp_path / "answers.db"
    one = RecordingChatModel(path, model).complete(asking("a"))
    two = RecordingChatModel(path, model).complete(asking("a"))
    assert one == two
    assert len(model.requests) == 1


def test_another_temperature_is_another_request(tmp_path):
    model = ScriptedChatModel(["first", "second"])
    recorder = RecordingChatModel(tmp_path / "answers.db", model)
    recorder.complete(asking("a"))
    assert recorder.complete(asking("a", temperature=0.1)).samples[0].text == "second"


def test_a_replay_without_model_refuses_what_it_never_saw(tmp_path):
    path = tmp_path / "answers.db"
    RecordingChatModel(path, ScriptedChatModel(["first"])).complete(asking("a"))
    replay = RecordingChatModel(path, name="scripted")
    assert replay.complete(asking("a")).samples[0].text == "first"
    with pytest.raises(ModelUnavailableError):
        replay.complete(asking("b"))
