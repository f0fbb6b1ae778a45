"""Every route of every app says what it needs of its caller, and says it itself."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from services.deployment.rooms import ROOMS
from services.gateway.app import create_app as create_gateway
from services.gateway.parts import GatewayParts
from services.ingestion.endpoints import create_router, create_sync_router
from services.ingestion.readings.endpoints import create_readings_router
from services.integrations.sources.settings import WebhookSettings
from services.kit.access.needs import Need
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.tickets.settings import GatewaySettings

ROOT = Path(__file__).parents[2]
SECRET = "what only the ticket system knows"
NOBODY = None
"""Routes are asked for, and nothing behind them."""


@pytest.fixture(scope="module")
def apps() -> dict[str, FastAPI]:
    settings = PlatformSettings(_env_file=None, api_key=SecretStr("a-key-of-enough-characters"))
    database = Database.memory()
    database.migrate("kit", "gateway")
    gateway = create_gateway(
        GatewayParts(
            GatewaySettings(_env_file=None),
            settings,
            database=database,
            outbox=Outbox(database),
            retrieval=NOBODY,
            triage=NOBODY,
            webhooks=WebhookSettings(_env_file=None, generic_secret=SecretStr(SECRET)),
            routers=[
                create_router(NOBODY),
                create_readings_router(NOBODY),
                create_sync_router(NOBODY),
            ],
            write_back=None,
        )
    )
    others = {room.name: room.describe(settings) for room in ROOMS if room.name != "gateway"}
    return {"gateway": gateway, **others}


SERVICES = tuple(room.name for room in ROOMS)


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ANY")


def client_of(app: FastAPI) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


STYLE = "style.css"


def addresses(app: FastAPI) -> dict[tuple[str, str], Need]:
    """Every route, with a word where its path has a parameter."""
    by_address = {}
    for route, need in app.state.needs.declared.items():
        method, path = route.replace("/static/{name}", f"/static/{STYLE}").split()
        by_address[method, path.replace("{", "").replace(":path}", "").replace("}", "")] = need
    return by_address


def test_the_apps_are_all_there(apps):
    deployables = {path.parent.name for path in (ROOT / "services").glob("*/app.py")} - {"kit"}
    assert apps.keys() == deployables == set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_every_route_is_declared_and_nothing_else(apps, name):
    app = apps[name]
    assert app.state.needs.undeclared == [], "say what they need: `@needs(Need.…)`"
    described = {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
    }
    # The description writes `{document_id}` where the route says `{document_id:path}`.
    declared = {each.replace(":path}", "}") for each in app.state.needs.declared}
    assert described <= declared
    pages = declared - described
    assert not [each for each in pages if " /v1/" in each]


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_open_are_the_probes_and_the_files_of_pages(apps, name):
    open_paths = {path for (_, path), need in addresses(apps[name]).items() if need is Need.OPEN}
    files = {f"/static/{STYLE}"} if name == "gateway" else set()
    assert open_paths == {"/healthz", "/readyz"} | files


SIGN_IN = {
    ("GET", "/sign-in"),
    ("GET", "/sign-in/begin"),
    ("GET", "/sign-in/callback"),
    ("POST", "/sign-in/key"),
    ("POST", "/sign-out"),
}


@pytest.mark.parametrize("name", SERVICES)
def test_what_people_sign_in_by_is_open_to_be_counted_and_is_nothing_else(apps, name):
    routes = {each for each, need in addresses(apps[name]).items() if need is Need.SIGN_IN}
    assert routes == (SIGN_IN if name == "gateway" else set())


@pytest.mark.parametrize("name", SERVICES)
def test_without_a_key_nothing_answers_but_what_is_open(apps, name):
    client = client_of(apps[name])
    for (method, path), need in addresses(apps[name]).items():
        answer = client.request(method, path)
        if need is Need.SIGN_IN:  # a page or the way to one, and no wrong key
            assert answer.status_code in {200, 401}, path
            assert "session" not in str(client.cookies), path
            continue
        expected = {200, 503} if need is Need.OPEN else {401}
        assert answer.status_code in expected, path
        if need is not Need.OPEN:
            # The page too: a browser shows its sign-in, and nothing else comes with it.
            assert "Basic" in answer.headers["www-authenticate"]
            assert set(answer.json()) == {"error", "detail"}
    assert client.get("/nowhere").status_code == 401
    assert client.options("/workflow").status_code == 401


@pytest.mark.parametrize("name", SERVICES)
def test_without_a_key_no_other_method_and_no_other_spelling_answers(apps, name):
    client = client_of(apps[name])
    declared = addresses(apps[name])
    closed = (each for each, need in declared.items() if need not in {Need.OPEN, Need.SIGN_IN})
    for path in {path for _, path in closed}:
        for method in METHODS:
            if (method, path) not in declared:
                assert client.request(method, path).status_code == 401, (method, path)
        for other in (f"{path}/", f"//{path}", f"/healthz/..{path}", f"{path};x", f"{path}%2f."):
            assert client.get(other).status_code == 401, other


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("header", ["x-flowxpert-token", "authorization"])
def test_what_a_ticket_system_proves_itself_with_opens_its_webhook_alone(apps, name, header):
    client = client_of(apps[name])
    proof = f"Bearer {SECRET}" if header == "authorization" else SECRET
    for (method, path), need in addresses(apps[name]).items():
        if need not in {Need.OPEN, Need.SIGN_IN}:
            answer = client.request(method, path, headers={header: proof}, json={"title": "x"})
            assert answer.status_code == 401, (method, path)
    answer = client.post("/workflow/generic", headers={header: proof}, json={"title": "x"})
    assert answer.status_code == (202 if name == "gateway" else 401)
    wrong = client.post("/workflow/generic", headers={header: f"{proof}x"}, json={"title": "x"})
    assert wrong.status_code == 401


def test_a_new_route_is_for_admins_until_it_is_declared():
    from fastapi import APIRouter

    from services.kit.http.app import create_service_app

    router = APIRouter()
    router.add_api_route("/v1/new", lambda: "here")
    settings = PlatformSettings(_env_file=None)
    app = create_service_app("x", title="X", routers=[router], settings=settings)
    assert app.state.needs.undeclared == ["GET /v1/new"]
    request = {"type": "http", "method": "GET", "path": "/v1/new"}
    assert app.state.needs.of(request) is Need.ADMIN


@pytest.mark.parametrize("service", ["gateway", "ingestion"])
@pytest.mark.parametrize("what", ["cases", "cases/removals", "doubts", "doubts/removals"])
def test_what_names_who_did_it_is_the_platforms_own_to_write(
    apps: dict[str, FastAPI], service: str, what: str
) -> None:
    assert apps[service].state.needs.declared[f"POST /v1/{what}"] is Need.PLATFORM
