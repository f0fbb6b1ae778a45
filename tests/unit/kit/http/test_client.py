import httpx
import pytest
from pydantic import BaseModel, SecretStr

from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.access.credentials import ON_BEHALF_HEADER, WrongCredentialError
from services.kit.errors import ConflictError, FlowXpertError, NotFoundError
from services.kit.http import client as http
from services.kit.http.client import ServiceClient, ServiceUnavailableError, UnexpectedAnswerError


class Message(BaseModel):
    n: int


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(http, "RETRY_PAUSES_S", (0, 0))


def client_of(*answers):
    waiting = list(answers)

    def answer(request):
        answer = waiting.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ServiceClient("http://service", transport=httpx.MockTransport(answer))


def test_json_goes_out_and_comes_back():
    sent = []

    def echo(request):
        sent.append(request)
        return httpx.Response(200, content=request.content)

    client = ServiceClient("http://service", transport=httpx.MockTransport(echo))
    assert client.post("/v1/messages", Message(n=3)) == {"n": 3}
    assert sent[0].url.path == "/v1/messages"


def test_a_refusal_comes_back_as_its_class():
    body = {"error": "NotFoundError", "detail": "no such thing"}
    with pytest.raises(NotFoundError, match="no such thing"):
        client_of(httpx.Response(404, json=body)).get("/x")


def test_an_unknown_refusal_comes_back_as_the_class_of_its_status():
    body = {"error": "NewlyInventedError", "detail": "d"}
    with pytest.raises(ConflictError):
        client_of(httpx.Response(409, json=body)).get("/x")


@pytest.mark.parametrize(
    "answer", [httpx.Response(500, text="<html>"), httpx.Response(200, text="<")]
)
def test_an_answer_outside_the_contract_is_told_apart(answer):
    with pytest.raises(UnexpectedAnswerError):
        client_of(answer).get("/x")


def test_a_service_that_comes_back_is_asked_again():
    client = client_of(
        httpx.Response(503), httpx.ConnectError("refused"), httpx.Response(200, json=1)
    )
    assert client.get("/x") == 1


def test_a_service_that_stays_away_is_unavailable():
    with pytest.raises(ServiceUnavailableError):
        client_of(*[httpx.ConnectError("refused")] * 3).get("/x")


def test_a_call_that_may_have_acted_is_not_repeated():
    with pytest.raises(ServiceUnavailableError):
        client_of(httpx.ReadTimeout("slow")).post("/x", Message(n=1))


def test_every_error_has_a_body_of_one_shape():
    error = NotFoundError("d")
    assert error.body() == {"error": "NotFoundError", "detail": "d"}
    assert FlowXpertError.schema()["required"] == ["error", "detail"]


def refusing(**more):
    body = {"error": "WrongCredentialError", "detail": "the key is unknown here"}
    transport = httpx.MockTransport(lambda _request: httpx.Response(401, json=body))
    return ServiceClient("http://service", transport=transport, **more)


def test_work_waits_for_a_platform_whose_services_do_not_know_each_other():
    with pytest.raises(ServiceUnavailableError, match="FLOWXPERT_API_KEY"):
        refusing(internal=True).get("/x")
    with pytest.raises(WrongCredentialError):
        refusing().get("/x")


def test_whose_request_it_is_goes_along_where_it_is_passed_on():
    sent = []

    def note(request):
        sent.append(request.headers)
        return httpx.Response(200, json={})

    transport = httpx.MockTransport(note)
    own = SecretStr("the-platforms-own")
    caller = Caller("ann", CallerKind.PERSON, credential="a.b.c")
    with acting_as(caller):
        ServiceClient("http://service", api_key=own, transport=transport).get("/x")
        ServiceClient("http://service", api_key=own, passes_on=True, transport=transport).get("/x")
        with pytest.raises(WrongCredentialError):  # the caller's fault, not the platform's
            refusing(internal=True, passes_on=True).get("/x")
    assert [headers["x-api-key"] for headers in sent] == ["the-platforms-own"] * 2
    assert [headers.get(ON_BEHALF_HEADER) for headers in sent] == [None, "a.b.c"]
