"""Who may do what, over HTTP: keys with scopes, people with roles, and everybody else."""

import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import jwt
import pytest
from pydantic import SecretStr
from sqlalchemy.exc import DBAPIError

from services.cli import commands
from services.contracts.proposals import ProposalsClient
from services.contracts.readings import ReadingsClient
from services.gateway.app import create_app as create_gateway
from services.gateway.parts import GatewayParts
from services.ingestion.app import create_app as create_ingestion
from services.ingestion.endpoints import create_router
from services.ingestion.proposals.endpoints import create_proposals_router
from services.ingestion.readings.endpoints import create_readings_router
from services.integrations.sources.settings import WebhookSettings
from services.kit.access.access import Access
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.keys import Keys
from services.kit.access.scopes import Role, Scope
from services.kit.access.sessions.people import Person
from services.kit.access.sessions.sessions import Sessions
from services.kit.http.client import ServiceClient
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.screening.document import hash_of
from services.knowledge.stores.sql_graph import SqlGraphStore
from services.runbook.store.sql_readings import SqlReadingStore
from services.tickets.settings import GatewaySettings
from services.tickets.triage.team_router import TeamRouter
from tests.issuer import AUDIENCE, ISSUER, Issuer
from tests.readings import reading_of_list
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import page as proposed_page
from tests.unit.ingestion.proposing import proposals_of
from tests.waiting import eventually

PLATFORM_KEY = "the-key-of-the-platform"
PAGE = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"
HASH = hash_of(PAGE)
SECRET = "what only this and Jira know"
ALERT = {"title": "Fan 2 of spine-01 failed", "id": "42"}


@contextmanager
def served(app: Any) -> Iterator[str]:
    server = ServerThread(app, host="127.0.0.1", port=0)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def desk(database: Database) -> TeamRouter:
    settings = GatewaySettings(_env_file=None)
    return TeamRouter(database, SqlGraphStore(database), HashingEmbedder(), settings)


@dataclass
class Platform:
    """A gateway that answers for ingestion too, with an issuer and keys."""

    url: str
    harness: IngestionHarness
    keys: Keys
    issuer: Issuer

    def call(self, method: str, path: str, credential: str | None = None, **more: Any) -> Any:
        headers = {"authorization": f"Bearer {credential}"} if credential else {}
        headers |= more.pop("headers", {})
        return httpx.request(method, self.url + path, headers=headers, **more)

    def status(self, credential: str | None, route: str) -> int:
        method, path, more = ROUTES[route]
        return self.call(method, path, credential, **more).status_code

    def lines(self, **wanted: str) -> list[dict[str, Any]]:
        return AuditLog(self.harness.database).lines(AuditFilter(**wanted))


def mcp(method: str, **params: Any) -> dict[str, Any]:
    """One request of the Model Context Protocol."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return {"json": body, "headers": {"accept": "application/json"}}


ROUTES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "page": ("GET", "/", {}),
    "read": ("GET", "/v1/tickets", {}),
    "metrics": ("GET", "/metrics", {}),
    "ticket": ("POST", "/workflow", {"json": ALERT}),
    "ingest": ("POST", "/v1/documents", {"files": {"files": ("b.md", b"# B\n\n1. Look.\n")}}),
    "import": ("POST", "/v1/readings/import", {"files": {"file": ("r.jsonl", b"")}}),
    "approve all": (
        "POST",
        "/v1/readings/import?approve=true",
        {"files": {"file": ("r.jsonl", b"")}},
    ),
    "approve": ("POST", f"/v1/readings/{HASH}/approvals", {"json": {"procedure": 0}}),
    "undo": ("POST", f"/v1/readings/{HASH}/undo", {}),
    "audit": ("GET", "/v1/audit", {}),
    "tools": ("POST", "/mcp", mcp("tools/list")),
}
OPERATE, INGEST = {"ticket"}, {"ingest", "import"}
READ = {"page", "read", "metrics", "tools"}
APPROVE = {"approve", "approve all", "undo"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[tuple[Issuer, str]]:
    made = Issuer()
    with served(made.app) as url:
        yield made, f"{url}/jwks"


@pytest.fixture
def platform(tmp_path, monkeypatch, issuer) -> Iterator[Platform]:
    made, jwks_url = issuer
    monkeypatch.setenv("FLOWXPERT_OIDC_ISSUER", ISSUER)
    monkeypatch.setenv("FLOWXPERT_OIDC_AUDIENCE", AUDIENCE)
    monkeypatch.setenv("FLOWXPERT_OIDC_JWKS_URL", jwks_url)
    harness = IngestionHarness(tmp_path)
    harness.database.migrate("gateway")
    harness.write("fan.md", PAGE)
    harness.ingest()
    SqlReadingStore(harness.database).put(HASH, reading_of_list(PAGE))
    service = harness.service
    app = create_gateway(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None, api_key=SecretStr(PLATFORM_KEY)),
            database=harness.database,
            outbox=harness.outbox,
            retrieval=FakeRetrieval(),
            triage=desk(harness.database),
            routers=[
                create_router(service),
                create_readings_router(lambda caller: service.readings(caller.name)),
            ],
            webhooks=WebhookSettings(jira_secret=SecretStr(SECRET), _env_file=None),
            write_back=None,
        )
    )
    with served(app) as url:
        yield Platform(url, harness, Keys(harness.database), made)
    harness.database.close()


def check(platform: Platform, credential: str, allowed: set[str]) -> None:
    for route in ROUTES:
        status = platform.status(credential, route)
        if route in allowed:
            assert status in {200, 202}, (route, status)
        else:
            assert status == 403, (route, status)


def test_a_key_does_what_its_scopes_say_and_never_approves(platform):
    for scopes, allowed in [
        ({Scope.READ}, READ),
        ({Scope.INGEST}, INGEST),
        ({Scope.OPERATE}, READ | OPERATE),
        ({Scope.INGEST, Scope.OPERATE}, READ | OPERATE | INGEST),
        ({Scope.ADMIN}, READ | OPERATE | INGEST | {"audit"}),
    ]:
        check(platform, platform.keys.create("-".join(sorted(scopes)), frozenset(scopes)), allowed)


def test_a_key_that_brings_a_ticket_in_may_wait_for_its_answer(platform):
    monitoring = platform.keys.create("monitoring", frozenset({Scope.OPERATE}))
    taken = platform.call("POST", "/workflow?wait=0.01", monitoring, json=ALERT)
    assert taken.status_code == 202
    ticket = taken.json()["tickets"][0]["status_url"]
    assert platform.call("GET", ticket, monitoring).status_code == 200


LOOKING = {"search_knowledge", "get_workflow", "get_runs"}
WORKING = LOOKING | {"make_workflow", "answer_question", "record_feedback", "draft_procedure"}


@pytest.mark.parametrize(("scope", "tools"), [(Scope.READ, LOOKING), (Scope.OPERATE, WORKING)])
def test_a_key_is_shown_and_may_use_the_tools_of_its_scope(platform, scope, tools):
    key = platform.keys.create("model", frozenset({scope}))
    listed = platform.call("POST", "/mcp", key, **mcp("tools/list")).json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == tools
    for name in WORKING:
        call = mcp("tools/call", name=name, arguments={})
        result = platform.call("POST", "/mcp", key, **call).json()["result"]
        refused = json.loads(result["content"][0]["text"])["error"]
        assert refused == ("InvalidInputError" if name in tools else "ScopeMissingError"), name


def test_what_a_tool_changes_is_done_by_who_called_it(platform):
    key = platform.keys.create("model", frozenset({Scope.OPERATE}))
    arguments = {"title": "Fan 2 of spine-01 failed", "wait_s": 0}
    call = mcp("tools/call", name="make_workflow", arguments=arguments)
    result = platform.call("POST", "/mcp", key, **call).json()["result"]
    made = result["structuredContent"]
    assert made["status"] == "received"
    (line,) = platform.lines(subject=f"ticket {made['ticket_id']}")
    assert line["who"] == "key model"
    assert line["action"] == "ticket.received"


def test_a_tool_needs_no_signature_of_the_plain_source(tmp_path, platform):
    """Who holds a key is known; a secret of plain tickets is for those who hold none."""
    key = platform.keys.create("model", frozenset({Scope.OPERATE}))
    webhooks = WebhookSettings(generic_secret=SecretStr(SECRET), _env_file=None)
    app = create_gateway(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None, api_key=SecretStr(PLATFORM_KEY)),
            database=platform.harness.database,
            outbox=platform.harness.outbox,
            retrieval=FakeRetrieval(),
            triage=desk(platform.harness.database),
            webhooks=webhooks,
            write_back=None,
        )
    )
    with served(app) as url:
        call = mcp("tools/call", name="make_workflow", arguments={"title": "x", "wait_s": 0})
        headers = {**call["headers"], "authorization": f"Bearer {key}"}
        answer = httpx.post(f"{url}/mcp", json=call["json"], headers=headers).json()
    assert answer["result"]["structuredContent"]["status"] == "received"


def test_the_platforms_key_is_an_admin_that_approves_nothing(platform):
    check(platform, PLATFORM_KEY, READ | OPERATE | INGEST | {"audit"})


def test_a_person_does_what_its_roles_say(platform):
    for roles, allowed in [
        ([], set()),
        (["somebody"], set()),
        (["viewer"], READ),
        (["responder"], READ | OPERATE),
        (["approver"], READ | OPERATE | INGEST | APPROVE),
        (["admin"], set(ROUTES)),
        (["viewer", "responder"], READ | OPERATE),
    ]:
        check(platform, platform.issuer.token(*roles), allowed)


def test_who_sends_nothing_gets_nothing_but_health(platform):
    assert platform.call("GET", "/healthz").status_code == 200
    assert platform.call("GET", "/readyz").status_code == 200
    for route in ROUTES:
        assert platform.status(None, route) == 401, route
    refused = platform.call("GET", "/v1/tickets")
    assert refused.json()["error"] == "MissingCredentialError"
    assert refused.headers["www-authenticate"].startswith("Basic ")
    assert ", Bearer " in refused.headers["www-authenticate"]
    assert "default-src 'none'" in refused.headers["content-security-policy"]


def test_wrong_expired_and_revoked_keys_are_refused(platform):
    keys = platform.keys
    good = keys.create("good", frozenset({Scope.ADMIN}))
    gone = keys.create("gone", frozenset({Scope.ADMIN}))
    past = Keys(platform.harness.database, clock=lambda: 1_000_000.0)
    over = past.create("over", frozenset({Scope.ADMIN}), days=1)
    assert platform.status(good, "read") == platform.status(gone, "read") == 200
    keys.revoke("gone")
    # The gateway's process still knows the key for a moment.
    eventually(lambda: platform.status(gone, "read"), lambda status: status == 401)
    for credential in (gone, over, good[:-1] + "!", good.upper(), "x" * 20, PLATFORM_KEY + "x"):
        for route in ROUTES:
            assert platform.status(credential, route) == 401, (credential, route)
    assert platform.status(good, "read") == 200


def test_tokens_of_others_are_refused(platform):
    for change in [
        {"iss": "https://evil.example.org"},
        {"aud": "another"},
        {"exp": 1_700_000_000},
        {"key_id": "unknown"},
        {"key_id": None},
    ]:
        token = platform.issuer.token("admin", **change)
        for route in ROUTES:
            assert platform.status(token, route) == 401, route


def test_a_token_that_nobody_signed_is_refused(platform):
    claims = platform.issuer.claims("admin")
    for token in (
        jwt.encode(claims, None, "none", {"kid": "one"}),
        jwt.encode(claims, "x" * 40, "HS256", {"kid": "one"}),
        platform.issuer.token("admin")[:-4] + "AAAA",
    ):
        assert platform.status(token, "read") == 401


def test_an_issuer_that_is_gone_lets_nobody_in_and_says_so(platform):
    platform.issuer.status = 500
    try:
        answer = platform.call("GET", "/v1/tickets", platform.issuer.token("admin"))
    finally:
        platform.issuer.status = 200
    assert answer.status_code == 503
    assert answer.json()["error"] == "IssuerUnavailableError"
    assert "retry-after" in answer.headers
    assert platform.status(PLATFORM_KEY, "read") == 200


def test_who_approves_is_the_caller_and_the_log_says_so(platform):
    token = platform.issuer.token("approver")
    body = {"procedure": 0, "by": "eve", "who": "eve"}
    answer = platform.call(
        "POST",
        f"/v1/readings/{HASH}/approvals",
        token,
        json=body,
        headers={"x-request-id": "req-7"},
    )
    assert answer.json()["states"][0]["by"] == "ann"
    (line,) = platform.lines(action="reading.approved")
    assert (line["who"], line["kind"], line["caller_id"]) == ("ann", "person", f"{ISSUER}#u-1")
    assert (line["subject"], line["request_id"]) == (f"text {HASH}", "req-7")
    assert (line["before"]["approved"], line["after"]["approved"]) == (0, 1)
    platform.call("POST", f"/v1/readings/{HASH}/undo", token)
    (line,) = platform.lines(action="reading.undone")
    assert (line["before"]["approved"], line["after"]["approved"]) == (1, 0)


def test_changes_are_in_the_log_that_an_admin_reads_and_nobody_changes(platform):
    bot = platform.keys.create("bot", frozenset({Scope.OPERATE, Scope.INGEST}))
    ticket = platform.call("POST", "/workflow", bot, json=ALERT).json()["tickets"][0]["id"]
    assert platform.status(bot, "ingest") == 202
    admin = platform.issuer.token("admin")
    page = platform.call("GET", "/v1/audit?limit=3", admin).json()
    actions = [(line["action"], line["who"]) for line in page["lines"]]
    assert actions == [
        ("documents.uploaded", "key bot"),
        ("ticket.received", "key bot"),
        ("key.created", "platform"),
    ]
    assert page["lines"][1]["subject"] == f"ticket {ticket}"
    assert "spine-01" not in str(page)
    below = page["next_below"]
    further = platform.call("GET", f"/v1/audit?below={below}", admin).json()["lines"]
    assert all(line["id"] < below for line in further)
    by = platform.call("GET", "/v1/audit", admin, params={"who": "key bot", "action": "ticket"})
    assert [line["action"] for line in by.json()["lines"]] == ["ticket.received"]
    for change in ("UPDATE audit SET who = 'eve'", "DELETE FROM audit"):
        with (
            platform.harness.database.engine.connect() as connection,
            pytest.raises(DBAPIError, match="append only"),
        ):
            connection.exec_driver_sql(change)


def test_a_signed_delivery_is_let_in_and_for_nothing_else(platform):
    issue = {"key": "OPS-43", "fields": {"summary": "Fan 3 failed"}}
    raw = json.dumps({"webhookEvent": "jira:issue_created", "issue": issue}).encode()
    signature = hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-hub-signature": f"sha256={signature}",
    }

    def post(path: str, **changed: str) -> int:
        request = {"content": raw, "headers": headers | changed}
        return platform.call("POST", path, None, **request).status_code

    assert post("/workflow/jira") == 202
    assert platform.lines(action="ticket.received")[0]["who"] == "source jira"
    assert post("/workflow/jira", **{"x-hub-signature": "sha256=1"}) == 401
    assert post("/workflow/alertmanager") == 401
    assert post("/workflow/jira?wait=1") == 403
    for path in ("/v1/documents", "/v1/readings/import", f"/v1/readings/{HASH}/undo"):
        assert post(path) == 401


def test_too_many_requests_of_one_key_are_told_to_wait(platform, monkeypatch):
    monkeypatch.setenv("FLOWXPERT_ACCESS_REQUESTS_PER_S", "0.02")
    monkeypatch.setenv("FLOWXPERT_ACCESS_BURST", "5")
    monkeypatch.setenv("FLOWXPERT_ACCESS_ADDRESS_REQUESTS_PER_S", "0.02")
    monkeypatch.setenv("FLOWXPERT_ACCESS_ADDRESS_BURST", "12")
    mine, other = (platform.keys.create(name, frozenset({Scope.READ})) for name in ("a", "b"))
    app = create_gateway(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None, api_key=SecretStr(PLATFORM_KEY)),
            database=platform.harness.database,
            outbox=platform.harness.outbox,
            retrieval=FakeRetrieval(),
            triage=desk(platform.harness.database),
            write_back=None,
        )
    )
    with served(app) as url:
        limited = Platform(url, platform.harness, platform.keys, platform.issuer)
        answers = [limited.call("GET", "/v1/tickets", mine) for _ in range(7)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert answers[-1].json()["error"] == "TooManyRequestsError"
        assert limited.status(other, "read") == 200
        guesses = [limited.status(f"guess-{n}-of-some-length", "read") for n in range(8)]
        assert guesses[0] == 401
        assert guesses[-1] == 429
        assert limited.status(PLATFORM_KEY, "read") == 200
        assert limited.call("GET", "/healthz").status_code == 200


def test_a_browser_signs_in_with_a_key_as_the_password(platform):
    key = platform.keys.create("page", frozenset({Scope.READ, Scope.INGEST}))
    assert "Basic" in httpx.get(f"{platform.url}/").headers["www-authenticate"]
    auth = httpx.BasicAuth("ann", key)
    page = httpx.get(f"{platform.url}/", auth=auth)
    assert page.status_code == 200
    assert "script-src 'unsafe-inline'" not in page.headers["content-security-policy"]
    _, path, files = ROUTES["ingest"]
    evil = {"origin": "https://evil.org"}
    assert httpx.post(platform.url + path, auth=auth, headers=evil, **files).status_code == 403
    own = {"origin": platform.url}
    assert httpx.post(platform.url + path, auth=auth, headers=own, **files).status_code == 202


@pytest.fixture
def apart(platform) -> Iterator[Platform]:
    """The gateway in front of an ingestion in another process, as far as both can tell."""
    settings = PlatformSettings(_env_file=None, api_key=SecretStr(PLATFORM_KEY))
    service = platform.harness.service
    ingestion = create_ingestion(
        settings,
        service=service,
        syncs=None,
        readings=lambda caller: service.readings(caller.name),
        proposals=proposals_of(platform.harness),
        access=Access.of(settings, platform.harness.database),
    )
    with (
        served(ingestion) as inner,
        ServiceClient(inner, api_key=SecretStr(PLATFORM_KEY), passes_on=True) as client,
    ):
        app = create_gateway(
            GatewayParts(
                GatewaySettings(_env_file=None),
                settings,
                database=platform.harness.database,
                outbox=platform.harness.outbox,
                retrieval=FakeRetrieval(),
                triage=desk(platform.harness.database),
                routers=[
                    create_readings_router(lambda _caller: ReadingsClient(client)),
                    create_proposals_router(ProposalsClient(client)),
                ],
                write_back=None,
            )
        )
        with served(app) as url:
            yield Platform(url, platform.harness, platform.keys, platform.issuer)


def test_between_services_the_caller_stays_who_it_is(apart):
    answer = apart.call(
        "POST",
        f"/v1/readings/{HASH}/approvals",
        apart.issuer.token("approver"),
        json={"procedure": 0},
    )
    assert answer.json()["states"][0]["by"] == "ann"
    assert apart.status(apart.issuer.token("responder"), "approve") == 403
    assert apart.status(PLATFORM_KEY, "approve") == 403
    bot = apart.keys.create("bot", frozenset({Scope.INGEST}))
    assert apart.status(bot, "import") == 200
    assert apart.status(bot, "approve all") == 403
    assert apart.lines(action="reading.approved")[0]["who"] == "ann"


def test_between_services_a_page_is_accepted_by_a_person_and_by_no_key(apart):
    page = proposed_page(origin="composed").model_dump(mode="json")
    bot = apart.keys.create("bot", frozenset({Scope.RUN}))
    proposal = apart.call("POST", "/v1/proposals", bot, json=page).json()
    assert proposal["proposed_by"] == "key bot"
    address = f"/v1/proposals/{proposal['id']}"
    seen = {"text_hash": proposal["text_hash"]}
    for refused in (bot, PLATFORM_KEY, apart.issuer.token("responder")):
        for what, body in (("acceptance", seen), ("rejection", {}), ("withdrawal", {})):
            assert apart.call("POST", f"{address}/{what}", refused, json=body).status_code == 403
    ann = apart.issuer.token("approver")
    taken = apart.call("POST", f"{address}/acceptance", ann, json=seen)
    assert (taken.status_code, taken.json()["decided_by"]) == (200, "ann")
    assert apart.lines(action="proposal.accepted")[0]["who"] == "ann"
    own = apart.call("POST", "/v1/proposals", ann, json=page | {"key": "own"}).json()
    answer = apart.call("POST", f"/v1/proposals/{own['id']}/acceptance", ann, json=seen)
    assert (answer.status_code, answer.json()["error"]) == (403, "NotAccepterError")


def test_between_services_whoever_is_signed_in_stays_who_they_are(apart):
    sessions = Sessions(apart.harness.database, apart.keys, issuer=ISSUER)

    def approve(session_id: str) -> httpx.Response:
        headers = {"cookie": f"flowxpert-session={session_id}", "sec-fetch-site": "same-origin"}
        path = f"/v1/readings/{HASH}/approvals"
        return apart.call("POST", path, headers=headers, json={"procedure": 0})

    def signed_in(role: Role) -> str:
        return sessions.begin(Person(ISSUER, role.value, f"{role.value} ann", frozenset({role})))

    assert approve(signed_in(Role.RESPONDER)).status_code == 403
    key = apart.keys.create("boss", frozenset({Scope.ADMIN}))
    assert approve(sessions.begin_with_key(key)).status_code == 403
    id_ = signed_in(Role.APPROVER)
    assert approve(id_).json()["states"][0]["by"] == "approver ann"
    [line] = apart.lines(action="reading.approved")
    assert (line["who"], line["caller_id"]) == ("approver ann", f"{ISSUER}#approver")
    sessions.end(id_)
    eventually(lambda: approve(id_).status_code, lambda status: status == 401)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (None, ("a key is needed", "FLOWXPERT_TOKEN")),
        ("wrong-key-of-somebody", ("the key is unknown", "FLOWXPERT_TOKEN", "FLOWXPERT_API_KEY")),
    ],
)
def test_a_command_that_is_not_known_says_how_to_give_the_key(
    platform, monkeypatch, capsys, token, expected
):
    if token:
        monkeypatch.setenv("FLOWXPERT_TOKEN", token)
    monkeypatch.setattr(sys, "argv", ["flowxpert", "ticket", "42", "--url", platform.url])
    with pytest.raises(SystemExit, match="1"):
        commands.main()
    message = capsys.readouterr().err
    assert all(word in message for word in expected)
    assert "Authorization" not in message
