"""A server that speaks OpenAI's chat API and always says the same: a process that can be killed.

python scripted_openai.py PORT FILE — each sample is the text of FILE, streamed in two pieces. While
FILE.held is there nothing is written to its end; FILE.begun tells that something was begun then.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT, FILE = int(sys.argv[1]), Path(sys.argv[2])
TEXT = FILE.read_text()
USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}


class Chat(BaseHTTPRequestHandler):
    """Answers POST /v1/chat/completions."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        samples = range(body.get("n") or 1)
        if body.get("stream"):
            self._start("text/event-stream")
            for index in samples:
                self._send({"delta": {"content": TEXT[:20]}, "index": index})
            _wait()
            for index in samples:
                self._send({"delta": {"content": TEXT[20:]}, "index": index})
                self._send({"delta": {}, "index": index, "finish_reason": "stop"})
            self._write(f"data: {json.dumps(_object('chunk', [], USAGE))}\n\ndata: [DONE]\n\n")
        else:
            _wait()
            self._start("application/json")
            message = {"role": "assistant", "content": TEXT}
            choices = [{"message": message, "index": i, "finish_reason": "stop"} for i in samples]
            self._write(json.dumps(_object("completion", choices, USAGE)))

    def _send(self, choice: dict[str, object]) -> None:
        self._write(f"data: {json.dumps(_object('chunk', [choice], None))}\n\n")

    def _start(self, media_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.end_headers()

    def _write(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def _wait() -> None:
    hold_file = FILE.with_suffix(".held")
    while hold_file.exists():
        FILE.with_suffix(".begun").touch()
        time.sleep(0.02)


def _object(kind: str, choices: list[object], usage: object) -> dict[str, object]:
    return {
        "id": "1",
        "object": f"chat.{kind}",
        "created": 1,
        "model": "scripted",
        "choices": choices,
        "usage": usage,
    }


ThreadingHTTPServer(("127.0.0.1", PORT), Chat).serve_forever()
