import socket

import httpx
import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from pydantic import BaseModel

from services.kit.access.access import UnsafeAddressError
from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.http import edge
from services.kit.http.app import create_service_app
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings


class Thing(BaseModel):
    title: str
    labels: dict[str, str] = {}


def routes():
    router = APIRouter()

    @router.post("/v1/things/{thing_id}")
    @needs(Need.OPERATE)
    def make(thing_id: str, thing: Thing) -> Thing:
        return thing

    @router.post("/v1/uploads")
    @needs(Need.INGEST)
    def upload(thing: Thing) -> Thing:
        return thing

    @router.get("/defect")
    @needs(Need.READ)
    def defect() -> None:
        raise KeyError("secret words")

    @router.get("/missing")
    @needs(Need.READ)
    def missing() -> None:
        raise NotFoundError("no such thing")

    @router.get("/deep")
    @needs(Need.READ)
    def deep() -> None:
        deep()

    return router


def client(checks=None, optional=None, gauges=None, **settings):
    app = create_service_app(
        "test",
        title="Test",
        routers=[routes()],
        settings=PlatformSettings(_env_file=None, **settings),
        checks=checks,
        optional=optional,
        gauges=gauges,
        body_limits={"/v1/uploads": 10_000},
    )
    return TestClient(app, base_url="http://localhost:8080")


JSON = {"content-type": "application/json"}


def test_a_request_gets_its_trace_id_back():
    answer = client().get("/healthz", headers={"x-request-id": "abc-1"})
    assert answer.headers["x-request-id"] == "abc-1"


def test_the_trace_of_a_traceparent_header_is_taken():
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    answer = client().get("/healthz", headers={"traceparent": parent})
    assert answer.headers["x-request-id"] == "0af7651916cd43dd8448eb211c80319c"


def test_a_trace_id_with_other_characters_is_replaced():
    answer = client().get("/healthz", headers={"x-request-id": "a b<script>"})
    assert len(answer.headers["x-request-id"]) == 32


def test_every_answer_forbids_foreign_scripts_and_frames():
    for path in ("/healthz", "/nowhere", "/defect"):
        policy = client().get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"", 422),
        (b"3", 422),
        (b'{"title": 3}', 422),
        (b'{"title": "\\ud800", "labels": {"\\ud800": 1}}', 422),
    ],
)
def test_a_body_that_cannot_be_used_is_refused(body, status):
    answer = client(max_body_bytes=1_000_000).post("/v1/things/1", content=body, headers=JSON)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "detail"}


def test_a_refusal_does_not_send_the_input_back():
    body = {"title": 3, "labels": {"k" * 5000: ["v" * 5000]}}
    answer = client().post("/v1/things/1", json=body)
    assert answer.status_code == 422
    assert len(answer.content) < 1000
    assert "vvv" not in answer.text


@pytest.mark.parametrize("stated", [True, False])
def test_a_body_over_the_limit_is_answered_413(stated):
    body = b'{"title": "' + b"x" * 5000 + b'"}'
    content = body if stated else iter([body[:2500], body[2500:]])
    answer = client(max_body_bytes=4000).post("/v1/things/1", content=content, headers=JSON)
    assert answer.status_code == 413
    assert answer.json()["error"] == "PayloadTooLargeError"


def test_a_body_that_stops_coming_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(edge, "BODY_IDLE_S", 0.1)
    server = ServerThread(client().app, host="127.0.0.1", port=0)
    server.start()
    address = httpx.URL(server.url)
    with socket.create_connection((address.host, address.port), timeout=10) as caller:
        caller.sendall(
            b"POST /v1/things/1 HTTP/1.1\r\nHost: localhost\r\n"
            b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"title": '
        )
        answer = caller.makefile("rb").readline()
    server.stop()
    assert b" 408 " in answer


def test_no_request_is_led_to_the_host_that_it_names():
    body = {"title": "x"}
    answer = client().post("/v1/things/1/", json=body, follow_redirects=False)
    assert (answer.status_code, "location" in answer.headers) == (404, False)


def test_a_path_may_have_its_own_limit():
    body = b'{"title": "' + b"x" * 5000 + b'"}'
    answer = client(max_body_bytes=4000).post("/v1/uploads", content=body, headers=JSON)
    assert answer.status_code == 200


def test_an_expected_refusal_keeps_its_name_and_status():
    answer = client().get("/missing")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": "NotFoundError", "detail": "no such thing"},
    )


def test_a_defect_is_answered_without_its_words():
    answer = client().get("/defect")
    assert answer.status_code == 500
    assert answer.json()["error"] == "InternalError"
    assert "secret" not in answer.text


def test_a_recursion_without_end_is_a_bad_request():
    assert client().get("/deep").status_code == 400


def test_a_nul_in_the_url_is_refused():
    assert client().get("/v1/things/%00").status_code == 422
    assert client().get("/missing?q=%00").status_code == 422


def test_a_service_is_ready_when_its_checks_pass():
    answer = client(checks={"store": lambda: None}).get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": {"store": "ok"}})


def away():
    raise UnavailableError("the password of host db.internal is wrong")


def test_a_service_is_not_ready_while_something_it_needs_is_away():
    answer = client(checks={"store": away, "queue": lambda: None}).get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "error": "UnavailableError",
        "detail": "store: away",
        "status": "away",
        "checks": {"store": "away", "queue": "ok"},
    }


def test_a_service_that_goes_on_without_something_is_ready_and_says_so():
    answer = client(checks={"store": lambda: None}, optional={"model": away}).get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "degraded", "checks": {"model": "away", "store": "ok"}}


def test_gauges_are_read_when_metrics_are_asked_for():
    read = []
    probe = client(gauges={"things": lambda: read.append(1)})
    assert probe.get("/metrics").status_code == probe.get("/metrics").status_code == 200
    assert read == [1]


def test_metrics_are_answered_while_what_gauges_are_read_from_is_away():
    assert client(gauges={"things": away}).get("/metrics").status_code == 200


def test_metrics_count_by_route_template():
    probe = client()
    probe.post("/v1/things/42", json={"title": "x"})
    metrics = probe.get("/metrics").text
    assert 'route="/v1/things/{thing_id}"' in metrics
    assert "/v1/things/42" not in metrics


def test_a_key_guards_every_route_but_the_probes():
    probe = client(api_key="0123456789abcdef")
    assert probe.get("/healthz").status_code == 200
    for path in ("/missing", "/metrics", "/openapi.json", "/nowhere"):
        assert probe.get(path).status_code == 401
    assert probe.get("/missing", headers={"x-api-key": "0123456789abcdef"}).status_code == 404


def test_without_a_key_a_foreign_host_is_refused():
    assert client().get("/missing", headers={"host": "evil.org"}).status_code == 403


def test_an_open_address_without_a_key_is_refused_at_start():
    with pytest.raises(UnsafeAddressError):
        client(host="0.0.0.0")
