"""Signing in over HTTP, as those would who have no business here, and as those who have."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
import structlog
from pydantic import SecretStr
from sqlalchemy import select, update

from services.gateway.app import create_app
from services.gateway.parts import GatewayParts
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.access.sessions.sessions import FRESH_S
from services.kit.http.server import ServerThread
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.tables import AuditRow, PersonRow, SessionRow, SignInRow
from services.tickets.settings import GatewaySettings
from tests.issuer import AUDIENCE, CLIENT, CLIENT_SECRET, ISSUER, Issuer
from tests.unit.gateway.fakes import FakeRetrieval
from tests.waiting import eventually

PLATFORM_KEY = "the-key-of-the-platform"
HTML = {"accept": "text/html"}
SAME = {"sec-fetch-site": "same-origin"}
SESSION = "flowxpert-session"


@contextmanager
def served(app: Any) -> Iterator[str]:
    server = ServerThread(app, host="127.0.0.1", port=0)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@dataclass
class House:
    """A gateway, its database and its issuer; `url` is where it answers."""

    url: str
    database: Database
    issuer: Issuer
    keys: Keys

    def browser(self) -> httpx.Client:
        """Keeps cookies, follows nothing by itself."""
        return httpx.Client(base_url=self.url, headers=HTML)

    def sent_back(self, browser: httpx.Client, wanted: str = "/") -> str:
        """Begin a sign-in and say at the issuer who one is: the address one is sent back to."""
        begun = browser.get("/sign-in/begin", params={"next": wanted})
        assert begun.status_code == 303, begun.text
        return httpx.get(begun.headers["location"]).headers["location"]

    def signed_in(self, wanted: str = "/") -> httpx.Client:
        browser = self.browser()
        assert browser.get(self.sent_back(browser, wanted)).headers["location"] == wanted
        return browser

    def rows(self, table: type) -> list[Any]:
        with self.database.session() as session:
            return list(session.scalars(select(table)))


def refused_soon(ask: Callable[[], httpx.Response]) -> None:
    """What a process knows of a session it believes for a moment."""
    eventually(lambda: ask().status_code, lambda status: status == 401)


def problem_of(answer: httpx.Response) -> str:
    """The word for what went wrong; nothing of the issuer stands in the address."""
    assert answer.status_code == 303
    address = urlsplit(answer.headers["location"])
    assert address.path == "/sign-in"
    query = parse_qs(address.query)
    assert query.keys() <= {"problem", "next"}
    return query.get("problem", [""])[0]


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def environment(issuer, monkeypatch) -> Iterator[None]:
    with served(issuer.app) as url:
        for name, value in {
            "ISSUER": ISSUER,
            "AUDIENCE": AUDIENCE,
            "JWKS_URL": f"{url}/jwks",
            "CLIENT_ID": CLIENT,
            "CLIENT_SECRET": CLIENT_SECRET,
            "AUTHORIZATION_URL": f"{url}/authorize",
            "TOKEN_URL": f"{url}/token",
        }.items():
            monkeypatch.setenv(f"FLOWXPERT_OIDC_{name}", value)
        yield


def gateway(database: Database, **platform: Any) -> Any:
    return create_app(
        GatewayParts(
            GatewaySettings(_env_file=None),
            PlatformSettings(_env_file=None, **platform),
            database=database,
            outbox=Outbox(database),
            retrieval=FakeRetrieval(),
            triage=None,
            write_back=None,
        )
    )


@pytest.fixture
def database() -> Iterator[Database]:
    database = Database.memory()
    database.migrate("kit", "gateway")
    yield database
    database.close()


@pytest.fixture
def house(environment, database, issuer) -> Iterator[House]:
    with served(gateway(database, api_key=SecretStr(PLATFORM_KEY))) as url:
        yield House(url, database, issuer, Keys(database))


# The way in, and what it leaves.


def test_a_person_signs_in_at_the_issuer_and_comes_to_the_page_that_was_wanted(house):
    browser = house.browser()
    refused = browser.get("/tickets/x?candidate=y")
    assert refused.status_code == 401
    assert "/sign-in/begin?next=/tickets/x%3Fcandidate%3Dy" in refused.text
    assert "Basic" not in refused.headers["www-authenticate"]
    back = house.sent_back(browser, "/acceptance")
    done = browser.get(back)
    assert (done.status_code, done.headers["location"]) == (303, "/acceptance")
    page = browser.get("/acceptance")
    assert page.status_code == 200
    assert "ann" in page.text
    assert 'action="/sign-out"' in page.text
    assert browser.get("/v1/tickets").status_code == 200
    [person] = house.rows(PersonRow)
    assert (person.issuer, person.subject, person.name) == (ISSUER, "u-1", "ann")


def test_the_session_is_kept_as_a_digest_and_the_cookie_is_for_browsers_alone(house):
    browser = house.browser()
    done = browser.get(house.sent_back(browser))
    [cookie] = [c for c in done.headers.get_list("set-cookie") if c.startswith(f"{SESSION}=")]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert "no-store" in done.headers["cache-control"]
    id_ = browser.cookies[SESSION]
    [row] = house.rows(SessionRow)
    assert row.digest == hashlib.sha256(id_.encode()).hexdigest()
    begun = [line for line in house.rows(AuditRow) if line.action == "session.begun"]
    assert [(line.who, line.caller_id) for line in begun] == [("ann", f"{ISSUER}#u-1")]


def test_the_issuer_is_asked_with_pkce_a_state_and_a_nonce(house):
    browser = house.browser()
    location = urlsplit(browser.get("/sign-in/begin").headers["location"])
    query = {name: values[0] for name, values in parse_qs(location.query).items()}
    assert query["response_type"] == "code"
    assert query["code_challenge_method"] == "S256"
    assert query["redirect_uri"] == f"{house.url}/sign-in/callback"
    assert len(query["state"]) >= 43
    assert len(query["nonce"]) >= 43
    [row] = house.rows(SignInRow)
    assert query["state"] not in {row.state, row.browser}
    assert row.verifier not in location.query


def test_over_tls_cookies_are_secure_and_bound_to_the_host(environment, database, issuer):
    app = gateway(database, public_url="https://flowxpert.example.org")
    with served(app) as url:
        begun = httpx.get(f"{url}/sign-in/begin")
        query = parse_qs(urlsplit(begun.headers["location"]).query)
        assert query["redirect_uri"] == ["https://flowxpert.example.org/sign-in/callback"]
        flow = begun.headers["set-cookie"]
        back = urlsplit(httpx.get(begun.headers["location"]).headers["location"])
        cookie = flow.partition(";")[0]
        done = httpx.get(f"{url}{back.path}?{back.query}", headers={"cookie": cookie})
        [session] = [c for c in done.headers.get_list("set-cookie") if "session=" in c]
        for each in (flow, session):
            assert each.startswith("__Host-")
            assert "Secure" in each
            assert "Domain" not in each
        value = session.partition(";")[0]
        assert httpx.get(f"{url}/v1/tickets", headers={"cookie": value}).status_code == 200
        plain = value.removeprefix("__Host-")
        assert httpx.get(f"{url}/v1/tickets", headers={"cookie": plain}).status_code == 401


def test_all_processes_of_a_database_share_the_sessions(house):
    browser = house.signed_in()
    cookie = {"cookie": f"{SESSION}={browser.cookies[SESSION]}"}
    with served(gateway(house.database, api_key=SecretStr(PLATFORM_KEY))) as other:
        assert httpx.get(f"{other}/v1/tickets", headers=cookie).status_code == 200
        assert browser.post("/sign-out", headers=SAME).status_code == 303
        refused_soon(lambda: httpx.get(f"{other}/v1/tickets", headers=cookie))


def test_roles_may_stand_in_the_access_token_of_the_same_person_for_this_platform(house):
    house.issuer.forge = lambda claims: house.issuer.signed(without("roles")(claims))
    house.issuer.access = lambda: house.issuer.token("responder")
    assert house.signed_in().get("/v1/tickets").status_code == 200
    for access in (
        lambda: house.issuer.token("admin", sub="u-2"),
        lambda: house.issuer.token("admin", aud="another"),
        lambda: house.issuer.token("admin", exp=1),
        lambda: Issuer().token("admin"),
    ):
        house.issuer.access = access
        assert house.signed_in().get("/v1/tickets").status_code == 403
    house.issuer.access = lambda: house.issuer.token("admin")
    house.issuer.forge = None
    house.issuer.person = {"roles": ["viewer"]}
    assert house.signed_in().get("/v1/audit").status_code == 403, "the ID token says it"


def test_a_public_client_is_known_by_pkce_alone(environment, database, issuer, monkeypatch):
    monkeypatch.delenv("FLOWXPERT_OIDC_CLIENT_SECRET")
    issuer.is_public = True
    with served(gateway(database)) as url:
        House(url, database, issuer, Keys(database)).signed_in()


def test_what_a_page_does_by_itself_is_no_use_of_the_session(house):
    browser = house.signed_in()
    used_at = time.time() - 3600
    with house.database.session() as session:
        session.execute(update(SessionRow).values(used_at=used_at))
    with browser.stream("GET", "/v1/events", headers={"accept": "text/event-stream"}) as stream:
        assert stream.status_code == 200
    [row] = house.rows(SessionRow)
    assert row.used_at == used_at
    assert browser.get("/v1/tickets").status_code == 200
    [row] = house.rows(SessionRow)
    assert row.used_at > used_at


# Attacks on the way back from the issuer.


def test_a_state_is_good_once(house):
    browser = house.browser()
    back = house.sent_back(browser)
    kept = dict(browser.cookies)
    assert browser.get(back).headers["location"] == "/"
    replayed = httpx.get(back, cookies=kept)
    assert problem_of(replayed) == "stale"
    assert SESSION not in replayed.cookies
    assert len(house.issuer.taken) == 1


def test_a_state_is_no_good_in_another_browser(house):
    mine, theirs = house.browser(), house.browser()
    back = house.sent_back(mine)
    house.sent_back(theirs)
    answer = theirs.get(back)
    assert problem_of(answer) == "elsewhere"
    assert SESSION not in theirs.cookies
    assert house.issuer.taken == []


def test_a_state_that_nobody_began_is_refused(house):
    for query in ["", "state=made-up&code=x", "code=x", "state=%00", "state=é"]:
        answer = house.browser().get(f"/sign-in/callback?{query}")
        assert answer.status_code == 422 if "%00" in query else problem_of(answer) == "stale"


def test_a_state_ends_after_ten_minutes(house):
    browser = house.browser()
    back = house.sent_back(browser)
    with house.database.session() as session:
        session.execute(update(SignInRow).values(expires_at=time.time() - 1))
    assert problem_of(browser.get(back)) == "stale"


def test_the_host_header_says_nothing_of_where_the_issuer_sends_people(house):
    for host in ("evil.org", "127.0.0.1.evil.org", "127.0.0.1@evil.org", "evil.org#127.0.0.1", "["):
        answer = house.browser().get("/sign-in/begin", headers={"host": host})
        assert answer.status_code == 403, host
        assert "FLOWXPERT_PUBLIC_URL" in answer.text
        assert "location" not in answer.headers
    assert house.rows(SignInRow) == []


def test_a_callback_at_another_host_uses_the_address_that_was_begun_with(house):
    browser = house.browser()
    back = house.sent_back(browser)
    browser.get(back, headers={"host": "evil.org"})
    [form] = house.issuer.taken
    assert form["redirect_uri"] == f"{house.url}/sign-in/callback"


def test_a_public_address_without_tls_or_with_a_path_is_refused_at_start(environment, database):
    for url in ("http://flowxpert.example.org", "https://example.org/flowxpert"):
        with pytest.raises(Exception, match="FLOWXPERT_PUBLIC_URL"):
            gateway(database, public_url=url)


def without(name):
    return lambda claims: {key: value for key, value in claims.items() if key != name}


def with_(**more):
    return lambda claims: claims | more


FORGED = {
    "wrong nonce": with_(nonce="another"),
    "no nonce": without("nonce"),
    "nonce no text": with_(nonce=["x"]),
    "another audience": with_(aud="another"),
    "a bearer's audience": with_(aud=AUDIENCE),
    "several audiences": with_(aud=[CLIENT, "another"]),
    "another party": with_(azp="another"),
    "another issuer": with_(iss="https://evil.org"),
    "over": with_(exp=int(time.time()) - 60),
    "of tomorrow": with_(iat=int(time.time()) + 3600),
    "not yet": with_(nbf=int(time.time()) + 3600),
    "no end": without("exp"),
    "no subject": without("sub"),
    "subject no text": with_(sub=7),
    "long subject": with_(sub="x" * 256),
}


def test_an_id_token_that_is_not_the_one_is_refused(house):
    for name, change in FORGED.items():
        house.issuer.forge = lambda claims, of=change: house.issuer.signed(of(claims))
        browser = house.browser()
        answer = browser.get(house.sent_back(browser, "/acceptance"))
        assert problem_of(answer) == "not-taken", name
        assert "next=%2Facceptance" in answer.headers["location"]
        assert house.rows(SessionRow) == []


SIGNED_OTHERWISE = {
    "none": lambda issuer, claims: jwt.encode(claims, None, "none", {"kid": "one"}),
    "hmac": lambda issuer, claims: jwt.encode(claims, "x" * 64, "HS256", {"kid": "one"}),
    "another's key": lambda issuer, claims: Issuer().signed(claims),
    "tampered": lambda issuer, claims: ".".join(
        (
            *issuer.signed(claims | {"roles": ["viewer"]}).split(".")[:1],
            issuer.signed(claims | {"roles": ["admin"]}).split(".")[1],
            issuer.signed(claims | {"roles": ["viewer"]}).split(".")[2],
        )
    ),
    "no token": lambda issuer, claims: "x",
    "not text": lambda issuer, claims: None,
}


def test_an_id_token_that_the_issuer_has_not_signed_is_refused(house):
    for name, make in SIGNED_OTHERWISE.items():
        house.issuer.forge = lambda claims, of=make: of(house.issuer, claims)
        browser = house.browser()
        assert problem_of(browser.get(house.sent_back(browser))) == "not-taken", name
        assert house.rows(SessionRow) == []


def test_clocks_may_differ_a_little(house):
    late = int(time.time()) - 20
    house.issuer.forge = lambda claims: house.issuer.signed(claims | {"exp": late})
    assert house.signed_in().get("/v1/tickets").status_code == 200


def test_what_the_issuer_refuses_is_told_in_words_and_leads_on(house):
    for answers, problem in [
        ({"error": "access_denied"}, "denied"),
        ({"error": "temporarily_unavailable"}, "issuer-away"),
        ({"error": "<script>"}, "issuer-error"),
        ({"code": ""}, "issuer-error"),
        ({"code": "made-up"}, "issuer-error"),
        ({"code": "x", "iss": "https://evil.org"}, "not-taken"),
    ]:
        house.issuer.answers = answers
        browser = house.browser()
        answer = browser.get(house.sent_back(browser, "/acceptance"))
        assert problem_of(answer) == problem
        page = browser.get(answer.headers["location"])
        assert page.status_code in {401, 503}
        assert "/sign-in/begin?next=/acceptance" in page.text
        assert 'role="alert"' in page.text
        assert "script>" not in page.text.replace("</script>", "").replace('module"></', "")


def test_an_issuer_that_is_down_is_said_and_keys_still_get_in(house, monkeypatch):
    browser = house.browser()
    back = house.sent_back(browser)
    house.issuer.token_status = 503
    answer = browser.get(back)
    assert problem_of(answer) == "issuer-away"
    page = browser.get(answer.headers["location"])
    assert page.status_code == 503
    assert "does not answer" in page.text
    key = {"key": PLATFORM_KEY, "next": "/"}
    assert browser.post("/sign-in/key", data=key, headers=SAME).headers["location"] == "/"


def test_an_issuer_that_cannot_be_asked_for_its_addresses_is_reported(
    issuer, database, monkeypatch, environment
):
    monkeypatch.setenv("FLOWXPERT_OIDC_ISSUER", "http://127.0.0.1:9")
    monkeypatch.delenv("FLOWXPERT_OIDC_AUTHORIZATION_URL")
    with served(gateway(database)) as url:
        assert problem_of(httpx.get(f"{url}/sign-in/begin")) == "issuer-away"


def test_the_issuers_own_document_tells_where_it_asks_unless_it_is_anothers(
    database, monkeypatch, environment
):
    here = Issuer()
    with served(here.app) as issuer_url:
        here.name = issuer_url
        monkeypatch.setenv("FLOWXPERT_OIDC_ISSUER", issuer_url)
        monkeypatch.setenv("FLOWXPERT_OIDC_JWKS_URL", f"{issuer_url}/jwks")
        monkeypatch.delenv("FLOWXPERT_OIDC_AUTHORIZATION_URL")
        monkeypatch.delenv("FLOWXPERT_OIDC_TOKEN_URL")
        with served(gateway(database)) as url:
            House(url, database, here, Keys(database)).signed_in()
        here.name = "https://another.example.org"
        with served(gateway(database)) as url:
            assert problem_of(httpx.get(f"{url}/sign-in/begin")) == "issuer-away"


def test_nothing_of_codes_and_tokens_is_logged(house):
    with structlog.testing.capture_logs() as lines:
        for forge in (None, lambda claims: house.issuer.signed(claims | {"nonce": "x"})):
            house.issuer.forge = forge
            browser = house.browser()
            back = house.sent_back(browser)
            browser.get(back)
        parameters = parse_qs(urlsplit(back).query)
    logged = repr(lines)
    assert "sign_in_not_taken" in logged
    for secret in (*parameters["code"], *parameters["state"], CLIENT_SECRET, "eyJ"):
        assert secret not in logged


# Attacks on where it leads.


def test_a_sign_in_leads_to_no_other_place(house):
    for wanted in [
        "https://evil.org/",
        "//evil.org",
        "/\\evil.org",
        "\\\\evil.org",
        "/%09/evil.org\t",
        "/\t/evil.org",
        "/a\r\nset-cookie: x=y",
        "javascript:alert(1)",
        "evil.org",
        "",
        "/" + "a" * 3000,
        "/sign-in?next=/",
        "/sign-out",
    ]:
        browser = house.browser()
        assert browser.get(house.sent_back(browser, wanted)).headers["location"] == "/"
        form = {"key": PLATFORM_KEY, "next": wanted}
        answer = house.browser().post("/sign-in/key", data=form, headers=SAME)
        assert answer.headers["location"] == "/"
        assert (
            f'value="{wanted}"' not in house.browser().get("/sign-in", params={"next": wanted}).text
        )


# Attacks on the session.


def test_an_id_that_somebody_put_into_the_browser_is_worth_nothing(house):
    fixed = "fs_" + "A" * 43
    browser = house.browser()
    browser.cookies.set(SESSION, fixed)
    assert browser.get("/v1/tickets").status_code == 401
    browser.cookies.clear()
    attacker = house.signed_in()
    old = attacker.cookies[SESSION]
    victim = house.browser()
    victim.cookies.set(SESSION, old, domain="127.0.0.1")
    back = house.sent_back(victim)
    done = victim.get(back)
    assert done.cookies[SESSION] not in {old, fixed}
    refused_soon(lambda: attacker.get("/v1/tickets"))  # the old session is over


def test_a_session_ends_where_it_is_not_used_and_in_any_case(house):
    browser = house.signed_in()

    def status() -> int:
        return browser.get("/v1/tickets").status_code

    def note(**values: float) -> None:
        with house.database.session() as session:
            session.execute(update(SessionRow).values(**values))

    def used_at() -> float:
        assert status() == 200
        [row] = house.rows(SessionRow)
        return float(row.used_at)

    now = time.time()
    note(used_at=now - 8 * 3600 + 60)
    eventually(used_at, lambda at: at > now - 60)
    note(used_at=now - 8 * 3600)
    eventually(status, lambda code: code == 401)
    note(used_at=now)
    eventually(status, lambda code: code == 200)
    note(expires_at=now)
    eventually(status, lambda code: code == 401)
    page = browser.get("/")
    assert "your session has ended" in page.text
    assert "/sign-in/begin" in page.text


def test_sign_out_ends_it_for_whoever_has_the_id_and_is_no_link(house):
    browser = house.signed_in()
    stolen = {SESSION: browser.cookies[SESSION]}
    assert browser.get("/sign-out").status_code in {401, 405}
    answer = browser.post("/sign-out", headers=SAME)
    assert answer.headers["location"] == "/sign-in"
    assert SESSION not in browser.cookies
    assert httpx.get(f"{house.url}/v1/tickets", cookies=stolen).status_code == 401
    assert house.rows(SessionRow) == []
    assert "session.ended" in {line.action for line in house.rows(AuditRow)}


CROSS = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://evil.org"},
    {"origin": "null"},
]


@pytest.mark.parametrize("headers", CROSS)
def test_another_sites_page_changes_nothing_in_a_session(house, headers):
    browser = house.signed_in()
    answer = browser.post("/workflow", json={"title": "x"}, headers=headers)
    assert answer.status_code == 403
    assert browser.post("/sign-out", headers=headers).status_code == 403
    form = {"key": PLATFORM_KEY}
    assert browser.post("/sign-in/key", data=form, headers=headers).status_code == 403
    own = {"origin": house.url}
    assert browser.post("/workflow", json={"title": "x"}, headers=own).status_code == 202


def test_a_session_id_is_no_key_and_a_key_in_the_cookie_is_no_session(house):
    key = house.keys.create("bot", frozenset({Scope.READ}))
    for text in (key, PLATFORM_KEY, house.issuer.token("admin")):
        answer = httpx.get(f"{house.url}/v1/tickets", headers={"cookie": f"{SESSION}={text}"})
        assert answer.status_code == 401
    id_ = house.signed_in().cookies[SESSION]
    for headers in ({"x-api-key": id_}, {"authorization": f"Bearer {id_}"}):
        assert httpx.get(f"{house.url}/v1/tickets", headers=headers).status_code == 401
    twice = {"cookie": f"{SESSION}=x; {SESSION}={id_}"}
    assert httpx.get(f"{house.url}/v1/tickets", headers=twice).status_code == 401


# Keys.


def test_a_key_signs_in_under_its_name_and_is_not_kept(house):
    key = house.keys.create("night-desk", frozenset({Scope.OPERATE}))
    browser = house.browser()
    page = browser.get("/sign-in", params={"next": "/acceptance"}).text
    assert 'action="/sign-in/key"' in page
    done = browser.post("/sign-in/key", data={"key": f" {key}\n", "next": "/acceptance"})
    assert (done.status_code, done.headers["location"]) == (303, "/acceptance")
    assert "key night-desk" in browser.get("/acceptance").text
    assert browser.get("/v1/audit").status_code == 403
    assert key not in repr([vars(row) for row in house.rows(SessionRow)])
    assert key not in str(dict(browser.cookies))


def test_a_wrong_key_is_told_in_words_and_never_shown_again(house):
    for typed in ["", "wrong", PLATFORM_KEY + "x", "fx_000000000000_" + "a" * 43, "é"]:
        answer = house.browser().post("/sign-in/key", data={"key": typed, "next": "/acceptance"})
        assert answer.status_code == 401
        assert "unknown, revoked or expired" in answer.text
        assert SESSION not in answer.cookies
        assert not typed or f'value="{typed}"' not in answer.text
        assert 'value="/acceptance"' in answer.text


def test_no_key_approves_by_a_session_whatever_its_row_says(house):
    from services.kit.tables import ApiKeyRow

    key = house.keys.create("boss", frozenset({Scope.ADMIN}))
    with house.database.session() as session:
        session.execute(update(ApiKeyRow).values(scopes=["admin", "approve"]))
        session.flush()
    for credential in (key, PLATFORM_KEY):
        browser = house.browser()
        browser.post("/sign-in/key", data={"key": credential})
        assert browser.get("/v1/audit").status_code == 200
        with house.database.session() as session:
            session.execute(update(SessionRow).values(roles=["admin", "approver"]))
        time.sleep(FRESH_S)
        caller = browser.post("/v1/readings/x/approvals", json={"procedure": 0}, headers=SAME)
        assert caller.status_code in {403, 404}
        from services.kit.access.sessions.sessions import Sessions

        sessions = Sessions(
            house.database, house.keys, issuer=ISSUER, platform_key=SecretStr(PLATFORM_KEY)
        )
        assert Scope.APPROVE not in sessions.caller(browser.cookies[SESSION]).scopes


@pytest.mark.parametrize("end", ["revoke", "rotate"])
def test_a_key_that_ends_ends_its_sessions(house, end):
    key = house.keys.create("bot", frozenset({Scope.READ}))
    browser = house.browser()
    browser.post("/sign-in/key", data={"key": key})
    assert browser.get("/v1/tickets").status_code == 200
    getattr(house.keys, end)("bot")
    refused_soon(lambda: browser.get("/v1/tickets"))


def test_another_key_of_the_platform_ends_its_sessions(house):
    browser = house.browser()
    browser.post("/sign-in/key", data={"key": PLATFORM_KEY})
    cookie = {SESSION: browser.cookies[SESSION]}
    with served(gateway(house.database, api_key=SecretStr("another-key-of-it"))) as url:
        assert httpx.get(f"{url}/v1/tickets", cookies=cookie).status_code == 401
    assert browser.get("/v1/tickets").status_code == 200


def test_guessing_is_slowed_down(house):
    answers = [house.browser().post("/sign-in/key", data={"key": f"{n}"}) for n in range(120)]
    assert answers[0].status_code == 401
    assert answers[-1].status_code == 429


# People.


def test_two_people_of_one_name_are_told_apart(house):
    first = house.signed_in()
    house.issuer.person = {"sub": "u-2", "preferred_username": "Ann", "roles": ["responder"]}
    second = house.signed_in()
    assert "Ann (u-2)" in second.get("/").text
    assert "u-2" not in first.get("/").text
    house.issuer.person = {"sub": "u-2", "preferred_username": "anna", "roles": ["responder"]}
    assert "anna" in house.signed_in().get("/").text
    assert {(p.subject, p.name) for p in house.rows(PersonRow)} == {("u-1", "ann"), ("u-2", "anna")}


def test_nobody_is_called_like_the_platform_or_a_key(house):
    for name in ["key boss", "local", "Platform", "source jira", "api key", "me", "nobody"]:
        house.issuer.person = {"preferred_username": name, "roles": ["viewer"]}
        house.signed_in()
        [person] = house.rows(PersonRow)
        assert person.name == f"{name} (u-1)"


def test_a_name_shows_all_that_it_is(house):
    house.issuer.person = {"preferred_username": "an\u202en\x1b[31m<b>\u200b", "roles": ["viewer"]}
    assert "ann&lt;b&gt;" in house.signed_in().get("/").text


def test_somebody_without_a_role_is_known_and_sees_why_they_see_nothing(house):
    house.issuer.person = {"roles": ["guest"]}
    browser = house.signed_in()
    page = browser.get("/")
    assert page.status_code == 403
    assert 'href="/sign-in"' in page.text
    text = browser.get("/sign-in").text
    assert "no role of yours is known here" in text
    assert 'action="/sign-out"' in text


def test_more_may_be_done_only_after_signing_in_again_with_a_new_id(house):
    house.issuer.person = {"roles": ["viewer"]}
    browser = house.signed_in()
    assert browser.post("/workflow", json={"title": "x"}, headers=SAME).status_code == 403
    old = browser.cookies[SESSION]
    house.issuer.person = {"roles": ["admin"]}
    assert browser.post("/workflow", json={"title": "x"}, headers=SAME).status_code == 403
    browser.get(house.sent_back(browser))
    assert browser.post("/workflow", json={"title": "x"}, headers=SAME).status_code == 202
    assert browser.cookies[SESSION] != old


# What goes on working.


def test_the_streams_take_the_session_and_end_with_it(house):
    browser = house.signed_in()
    with browser.stream("GET", "/v1/events", headers={"accept": "text/event-stream"}) as stream:
        assert stream.status_code == 200
        house.signed_in()  # another one's sign-in changes nothing
        httpx.post(f"{house.url}/sign-out", cookies=dict(browser.cookies), headers=SAME)
        for _ in stream.iter_lines():  # it comes to its end
            pass


def test_what_a_page_asks_for_by_itself_opens_no_dialog_of_the_browser(house):
    for headers in ({"sec-fetch-mode": "cors"}, {"cookie": f"{SESSION}=x"}):
        answer = httpx.get(f"{house.url}/v1/tickets", headers=headers)
        assert answer.status_code == 401
        assert "Basic" not in answer.headers["www-authenticate"]
    assert "Basic" in httpx.get(f"{house.url}/v1/tickets").headers["www-authenticate"]


def test_while_access_is_off_nobody_signs_in_and_nothing_asks(database):
    with served(gateway(database)) as url:
        assert httpx.get(f"{url}/sign-in", headers=HTML).headers["location"] == "/"
        assert httpx.get(f"{url}/", headers=HTML).status_code == 200
        stale = {"cookie": f"{SESSION}=fs_{'A' * 43}"}
        page = httpx.get(f"{url}/", headers=HTML | stale)
        assert page.status_code == 200
        assert "Sign out" not in page.text
