"""A ticket system on loopback, and what a ticket's events say of telling it."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCAL = "127.0.0.1"
POLL_S = 0.01


class System:
    """A ticket system on loopback that keeps what it is sent and answers as it is told."""

    def __init__(self):
        system = self
        self.requests, self.statuses, self.location = [], [], ""
        self.late_s, self.drips_every_s = [], 0.0

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                system.requests.append((self.command, self.path, headers, body))
                if system.drips_every_s:
                    self.drip()
                    return
                notes = b"\n".join(sent for *_, sent in system.requests)
                content = notes if self.command == "GET" else b""
                status = system.statuses.pop(0) if system.statuses else 201
                time.sleep(system.late_s.pop(0) if system.late_s else 0)
                self.send_response(status)
                if system.location:
                    self.send_header("location", system.location)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def drip(self):
                with suppress(OSError):
                    self.connection.sendall(b"HTTP/1.1 200 OK\r\n")
                    for _ in range(50):
                        self.connection.sendall(b"x-more: 1\r\n")
                        time.sleep(system.drips_every_s)

            do_POST = do_PATCH = do_GET = answer  # noqa: N815 - names of http.server

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer((LOCAL, 0), Handler)
        self.url = f"http://{LOCAL}:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[POLL_S], daemon=True).start()

    @property
    def only(self):
        (request,) = self.requests
        return request


def write_back_events(gateway, ticket_id):
    events = gateway.client.get(f"/v1/tickets/{ticket_id}/events").text
    return [
        json.loads(line.removeprefix("data: "))
        for line in events.splitlines()
        if line.startswith("data: ") and ('"told"' in line or '"not_told"' in line)
    ]
