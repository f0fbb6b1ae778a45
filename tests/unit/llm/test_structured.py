import pytest
from pydantic import BaseModel

from services.llm.chat_model import ChatRequest, Message, ModelAnswerError, ModelRefusedError
from services.llm.scripted import ScriptedChatModel
from services.llm.structured import ask_for, ask_until_valid


class Colour(BaseModel):
    name: str


REQUEST = ChatRequest(messages=(Message(role="user", content="which colour?"),))


def test_a_good_answer_needs_one_call():
    model = ScriptedChatModel(['{"name": "red"}'])
    answer, usage = ask_for(model, REQUEST, Colour)
    assert answer.name == "red"
    assert len(model.requests) == 1
    assert usage.prompt_tokens == 2


def test_a_bad_answer_is_sent_back_once_with_what_is_wrong():
    model = ScriptedChatModel(["red", '{"name": "red"}'])
    answer, _ = ask_for(model, REQUEST, Colour)
    assert answer.name == "red"
    correction = model.requests[1].messages[-1].content
    assert "no JSON object" in correction


def test_two_bad_answers_are_an_error():
    model = ScriptedChatModel(["red", "still red"])
    with pytest.raises(ModelAnswerError):
        ask_for(model, REQUEST, Colour)
    assert len(model.requests) == 2


def test_the_schema_travels_with_the_request():
    model = ScriptedChatModel(['{"name": "red"}'])
    ask_for(model, REQUEST, Colour)
    assert model.requests[0].json_schema == Colour.model_json_schema()


def test_a_correction_that_is_refused_leaves_the_bad_answer():
    def script(request):
        if len(request.messages) > 1:
            raise ModelRefusedError("too long")
        return ["red"]

    with pytest.raises(ModelAnswerError, match="no JSON object"):
        ask_for(ScriptedChatModel(script), REQUEST, Colour)


def test_each_correction_quotes_the_error_of_the_answer_before():
    answers, dialogues = iter(["a", "b", "c"]), []

    def ask(turns):
        dialogues.append([turn.content for turn in turns])
        return next(answers)

    def parse(text):
        if text != "c":
            raise ModelAnswerError(f"not {text}")
        return text

    assert ask_until_valid(ask, parse, tries=3) == "c"
    first = ["a", "That cannot be used: not a. Answer with the JSON only."]
    second = ["b", "That cannot be used: not b. Answer with the JSON only."]
    assert dialogues == [[], first, first + second]
