"""What only a real vLLM server can show of the adapter; `.ci/vllm` starts one."""

import os

import httpx
import pytest

from services.llm.chat_model import ChatRequest, Message, ModelRefusedError
from services.llm.openai_compatible import OpenAICompatibleChatModel

URL = os.environ.get("FLOWXPERT_TEST_VLLM_URL", "")
MODEL = os.environ.get("FLOWXPERT_TEST_VLLM_MODEL", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not URL, reason="FLOWXPERT_TEST_VLLM_URL names no vLLM server"),
]


def served(name: str = MODEL) -> OpenAICompatibleChatModel:
    return OpenAICompatibleChatModel(URL, name, prompt_logprobs=True)


def saying(text: str) -> tuple[Message, ...]:
    return (Message(role="user", content=text),)


def asking(text: str, **options) -> ChatRequest:
    return ChatRequest(messages=saying(text), **{"max_tokens": 8, **options})


def test_an_answer_that_was_cut_off_says_so():
    response = served().complete(asking("Count to a thousand.", max_tokens=4, temperature=0))
    assert [sample.finish_reason for sample in response.samples] == ["length"]
    assert response.usage.completion_tokens == 4


def test_what_is_too_long_for_the_model_is_refused_and_the_limit_is_reported():
    too_long = "word " * 10_000
    for ask in (
        lambda: served().complete(asking(too_long)),
        lambda: next(served().stream(asking(too_long))),
        lambda: served().complete(asking("hello", max_tokens=100_000)),
        lambda: served().log_probabilities(saying(too_long), "hello"),
        lambda: served().log_probabilities(saying("hello"), too_long),
    ):
        with pytest.raises(ModelRefusedError, match=r"400.*(context length|max_model_len)"):
            ask()


def test_a_model_that_the_server_does_not_have_is_refused_by_name():
    for ask in (
        lambda: served("nobody").complete(asking("hello")),
        lambda: next(served("nobody").stream(asking("hello"))),
        lambda: served("nobody").log_probabilities(saying("hello"), "hello"),
    ):
        with pytest.raises(ModelRefusedError, match=r"404.*`nobody` does not exist"):
            ask()


def test_a_schema_that_it_cannot_keep_is_refused():
    with pytest.raises(ModelRefusedError, match="400"):
        served().complete(asking("hello", json_schema={"type": "nonsense"}))


@pytest.mark.parametrize(
    "text", ["Red is a colour.", " red\n\n- one\n", "Ürgöt — ✓", "a<|im_end|>b"]
)
def test_every_token_of_the_text_has_its_log_probability_and_none_of_the_question(text):
    body = {"model": MODEL, "prompt": text, "add_special_tokens": False}
    tokens = httpx.post(f"{URL.removesuffix('/v1')}/tokenize", json=body).json()["count"]
    assert len(served().log_probabilities(saying("Name a colour."), text)) == tokens


def test_the_same_seed_gives_the_same_samples_and_each_its_own():
    """Only their beginnings are compared: batches round differently, so near ties flip later."""
    request = asking("Tell me of a colour.", n=3, seed=7, max_tokens=24)
    first, second = (served().complete(request) for _ in range(2))
    texts = [sample.text for sample in first.samples]
    assert [text[:16] for text in texts] == [sample.text[:16] for sample in second.samples]
    assert len(set(texts)) == 3
