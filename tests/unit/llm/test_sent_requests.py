"""What a server is asked."""

import json

import httpx2
from openai import OpenAI

from services.llm.chat_model import ChatRequest, Message
from services.llm.openai_compatible import OpenAICompatibleChatModel

CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
WHOLE = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}}


def sent(request: ChatRequest) -> dict[str, object]:
    bodies: list[dict[str, object]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=WHOLE)

    model = OpenAICompatibleChatModel("http://127.0.0.1:1/v1", "m")
    model._client = OpenAI(
        base_url="http://127.0.0.1:1/v1",
        api_key="unused",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
    )
    model.complete(request)
    return bodies[0]


def asking(**fields: object) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content="hi"),), **fields)


def test_an_object_that_turns_into_blanks_is_stopped() -> None:
    stops = sent(asking(json_schema=SCHEMA))["stop"]
    assert isinstance(stops, list)
    assert any(stop in '{"colour":' + " " * 70 for stop in stops)
    pretty = json.dumps({"a": {"b": {"c": ["x", {"d": "    two  words"}]}}}, indent=8)
    assert not any(stop in pretty for stop in stops)


def test_free_text_may_hold_any_blanks() -> None:
    assert "stop" not in sent(asking())


def test_no_server_is_told_a_secret_or_who_somebody_is() -> None:
    report = "Reported by: Ann, 0170 1234567, ann@example.com. Log in with password=hunter2hunter2."
    messages = (
        Message(role="system", content="Token: ghp_abcdefghijklmnopqrstuvwx"),
        Message(role="user", content=f"{report} Ping 10.12.0.254."),
    )
    prompt = json.dumps(sent(ChatRequest(messages=messages))["messages"])
    for secret in ("1234567", "ann@example.com", "hunter2", "ghp_"):
        assert secret not in prompt
    assert "Ping 10.12.0.254." in prompt
