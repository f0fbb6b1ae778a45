"""What servers answer that is no answer: each has one name, and time is over when it is over."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from openai import OpenAI

from evaluation.material.recorder import RecordingChatModel
from services.llm.chat_model import ChatRequest, Message, ModelRefusedError, ModelUnavailableError
from services.llm.openai_compatible import OpenAICompatibleChatModel
from tests.waiting import eventually

REQUEST = ChatRequest(messages=(Message(role="user", content="hi"),), timeout_s=5)
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
WHOLE = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}


def model(answer):
    client = httpx2.Client(transport=httpx2.MockTransport(lambda _request: answer()))
    chat_model = OpenAICompatibleChatModel("http://127.0.0.1:1/v1", "m")
    chat_model._client = OpenAI(
        base_url="http://127.0.0.1:1/v1", api_key="unused", max_retries=0, http_client=client
    )
    return chat_model


def text(content, media_type):
    return lambda: httpx2.Response(200, headers={"content-type": media_type}, text=content)


def events(*lines):
    return text("".join(f"{line}\n\n" for line in lines), "text/event-stream")


def chunk(**fields):
    return "data: " + json.dumps({**WHOLE, "object": "chat.completion.chunk", **fields})


@pytest.mark.parametrize(
    "body",
    [
        {**WHOLE, "choices": None},
        {**WHOLE, "choices": []},
        {**WHOLE, "choices": [{**CHOICE, "finish_reason": None}]},
        {**WHOLE, "usage": {"prompt_tokens": 5, "total_tokens": 5}},
        {"error": {"message": "boom"}},
        "{",
        "<html>",
    ],
    ids=["no choices", "none", "no reason", "half a usage", "error", "bad JSON", "a page"],
)
def test_an_answer_that_is_none_counts_as_no_answer(body):
    kind = "text/html" if body == "<html>" else "application/json"
    content = body if isinstance(body, str) else json.dumps(body)
    with pytest.raises(ModelUnavailableError):
        model(text(content, kind)).complete(REQUEST)


class Flooding(BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        with suppress(OSError):
            for _ in range(2_000):
                self.wfile.write(b"x" * 100_000)

    def log_message(self, *_args):
        pass


class Leading(Flooding):
    def do_POST(self):
        self.send_response(307)
        self.send_header("location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()
        self.server.paths.append(self.path)


def test_a_redirect_carries_no_prompt_elsewhere():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Leading)
    server.paths = []
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    with pytest.raises(ModelRefusedError):
        OpenAICompatibleChatModel(f"http://127.0.0.1:{server.server_port}/v1", "m").complete(
            REQUEST
        )
    server.shutdown()
    server.server_close()
    assert server.paths == ["/v1/chat/completions"]


def test_an_endless_answer_is_cut_off():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Flooding)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chat_model = OpenAICompatibleChatModel(f"http://127.0.0.1:{server.server_port}/v1", "m")
    with pytest.raises(ModelUnavailableError) as cut_off:
        chat_model.complete(REQUEST.model_copy(update={"timeout_s": 60}))
    unconnected = cut_off.value.__cause__
    assert unconnected is not None
    assert "more than" in str(unconnected.__cause__)
    server.shutdown()


OPEN = {"index": 0, "delta": {"content": "abc"}, "finish_reason": None}


@pytest.mark.parametrize(
    "lines",
    [
        ["data: {oops"],
        ['data: {"error": {"message": "boom"}}'],
        [chunk(choices=None)],
        [chunk(choices=[{"index": 0, "delta": None, "finish_reason": "stop"}])],
        [chunk(choices=[OPEN])],
        [chunk(choices=[OPEN]), "data: [DONE]"],
        ["data: [DONE]"],
    ],
    ids=["bad JSON", "error", "no choices", "no delta", "broken off", "not finished", "nothing"],
)
def test_a_stream_that_does_not_end_well_is_no_answer_and_not_recorded(lines, tmp_path):
    recording = RecordingChatModel(tmp_path / "answers.sqlite", model(events(*lines)))
    for _ in range(2):
        with pytest.raises(ModelUnavailableError):
            list(recording.stream(REQUEST))


def test_a_wrong_key_is_a_refusal():
    answer = lambda: httpx2.Response(401, json={"error": {"message": "no"}})  # noqa: E731
    with pytest.raises(ModelRefusedError):
        model(answer).complete(REQUEST)


class SignsOfLife(httpx2.SyncByteStream):
    """Comments, which are no data."""

    def __init__(self):
        self.sent = 0

    def __iter__(self):
        for _ in range(100):
            time.sleep(0.05)
            self.sent += 1
            yield b": ping\n\n"


def test_signs_of_life_do_not_prolong_the_time():
    signs = SignsOfLife()
    headers = {"content-type": "text/event-stream"}
    answer = lambda: httpx2.Response(200, headers=headers, stream=signs)  # noqa: E731
    with pytest.raises(ModelUnavailableError, match="longer"):
        list(model(answer).stream(REQUEST.model_copy(update={"timeout_s": 0.3})))
    assert signs.sent < 100


class Writing(httpx2.SyncByteStream):
    """One sample at once, then another, word by word."""

    def __init__(self):
        self.is_closed = False

    def __iter__(self):
        done = {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}
        yield f"{chunk(choices=[done])}\n\n".encode()
        for _ in range(500):
            time.sleep(0.02)
            yield f"{chunk(choices=[{**OPEN, 'index': 1}])}\n\n".encode()

    def close(self):
        self.is_closed = True


def test_who_hangs_up_ends_the_writing():
    writing = Writing()
    headers = {"content-type": "text/event-stream"}
    answer = lambda: httpx2.Response(200, headers=headers, stream=writing)  # noqa: E731
    stream = model(answer).stream(REQUEST)
    assert next(stream).text == "x"
    stream.close()
    eventually(lambda: writing.is_closed)
