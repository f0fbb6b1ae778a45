"""Whether callers must say who they are, and what a request says."""

import base64

import pytest
from pydantic import SecretStr

from services.kit.access.access import Access, UnsafeAddressError
from services.kit.access.caller import LOCAL, NOBODY, PLATFORM, Caller, CallerKind
from services.kit.access.credentials import (
    ON_BEHALF_HEADER,
    MissingCredentialError,
    WrongCredentialError,
)
from services.kit.access.gate import Buckets
from services.kit.access.keys import Keys
from services.kit.access.needs import Need, ScopeMissingError, check_need
from services.kit.access.network import ForeignHostError, ForeignOriginError
from services.kit.access.scopes import SCOPES_OF_ROLE, Role, Scope
from services.kit.access.settings import AccessMode, AccessSettings
from services.kit.errors import TooManyRequestsError
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database

KEY = "0123456789abcdef"


@pytest.fixture
def keys():
    database = Database.memory()
    database.migrate("kit")
    yield Keys(database)
    database.close()


def access(keys=None, mode=AccessMode.AUTO, hosts=(), **platform):
    settings = PlatformSettings(_env_file=None, **platform)
    own = AccessSettings(_env_file=None, mode=mode, hosts=list(hosts))
    return Access(settings, keys=keys, settings=own)


def request(method="GET", **headers):
    fields = {"host": "127.0.0.1:8080"} | {n.replace("_", "-"): v for n, v in headers.items()}
    encoded = [
        (name.encode(), each.encode("latin-1"))
        for name, value in fields.items()
        for each in ([value] if isinstance(value, str) else value)
    ]
    return {"type": "http", "method": method, "path": "/v1/tickets", "headers": encoded}


def caller(access, need=Need.READ, method="GET", **headers):
    return access.caller(request(method, **headers), need)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org", "127.0.0.1.evil.org"])
def test_other_addresses_than_loopback_need_a_key(host, keys):
    with pytest.raises(UnsafeAddressError):
        access(host=host)
    with pytest.raises(UnsafeAddressError):
        access(keys, host=host)
    with pytest.raises(UnsafeAddressError):
        access(host=host, api_key=SecretStr(KEY), mode=AccessMode.OFF)
    access(host=host, api_key=SecretStr(KEY))
    keys.create("bot", frozenset({Scope.READ}))
    access(keys, host=host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_loopback_needs_none(host):
    assert not access(host=host).is_on


def test_access_is_on_as_soon_as_there_is_a_key_and_stays_on(keys):
    assert not access(keys).is_on
    keys.create("bot", frozenset({Scope.READ}))
    keys.revoke("bot")
    assert access(keys).is_on
    assert not access(keys, mode=AccessMode.OFF).is_on
    assert access(mode=AccessMode.ON).is_on
    assert access(api_key=SecretStr(KEY)).is_on


def test_a_first_key_is_noticed_while_it_runs(keys, monkeypatch):
    running = access(keys)
    assert caller(running) is LOCAL
    keys.create("bot", frozenset({Scope.READ}))
    monkeypatch.setattr("services.kit.access.access._KEY_LOOKUP_EVERY_S", 0)
    with pytest.raises(MissingCredentialError):
        caller(running)


@pytest.mark.parametrize(
    "host", ["localhost:8080", "LocalHost", "127.0.0.1:1", "127.0.0.1", "[::1]:80", "[::1]",
             "flow.example.org", "FLOW.example.org:443", "hooks.example.net"]
)  # fmt: skip
def test_while_it_is_off_its_own_names_are_answered(host):
    named = access(public_url="https://flow.example.org", hosts=["hooks.example.net"])
    assert caller(named, host=host) is LOCAL


@pytest.mark.parametrize(
    "host", ["evil.org", "evil.org:8080", "", "localhost.evil.org", "10.0.0.1",
             "127.0.0.1@evil.org", "evil.flow.example.org", ["127.0.0.1", "evil.org"], []]
)  # fmt: skip
def test_while_it_is_off_a_foreign_host_name_is_refused_unless_its_source_proves_itself(host):
    named = access(public_url="https://flow.example.org", hosts=["hooks.net"])
    with pytest.raises(ForeignHostError):
        caller(named, host=host)
    assert caller(named, Need.SIGNED, "POST", host=host) is NOBODY


@pytest.mark.parametrize(
    "origin", ["https://evil.org", "null", "http://127.0.0.1:9", "http://[", ""]
)
def test_while_it_is_off_a_page_of_another_site_changes_and_reads_nothing(origin):
    for method in ("GET", "POST"):
        with pytest.raises(ForeignOriginError):
            caller(access(), method=method, origin=origin)
        assert caller(access(), method=method, origin="http://127.0.0.1:8080") is LOCAL


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket"])
def test_a_page_of_another_site_embeds_nothing_and_may_link(site, mode):
    with pytest.raises(ForeignOriginError, match="read"):
        caller(access(), sec_fetch_site=site, sec_fetch_mode=mode)
    assert caller(access(), sec_fetch_site=site, sec_fetch_mode="navigate") is LOCAL
    with pytest.raises(ForeignOriginError, match="change"):
        caller(access(), method="POST", sec_fetch_site=site, sec_fetch_mode="navigate")


def test_a_form_of_the_public_page_comes_through_a_proxy_that_has_its_own_host():
    behind = access(public_url="https://flow.example.org")
    assert caller(behind, method="POST", origin="https://flow.example.org") is LOCAL
    with pytest.raises(ForeignOriginError):
        caller(behind, method="POST", origin="https://flow.example.org.evil.org")


def basic(password):
    return "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {KEY}"},
        {"authorization": f"bearer  {KEY}"},
        {"authorization": basic(KEY)},
        {"x_api_key": KEY},
    ],
)
def test_the_platforms_key_is_an_admin_that_does_not_approve(headers):
    identity = caller(access(api_key=SecretStr(KEY)), **headers)
    assert (identity.name, identity.kind) == ("api key", CallerKind.KEY)
    assert identity.scopes == set(Scope) - {Scope.APPROVE}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x_api_key": ""},
        {"x_api_key": "0123456789abcdeF"},
        {"authorization": f"Basic {KEY}"},
        {"authorization": basic("wrong")},
        {"authorization": "Bearer"},
        {"authorization": f"Digest {KEY}"},
        {"authorization": f"Bearer {KEY} {KEY}"},
        {"authorization": "Bearer " + "x" * 20_000},
        {"x_api_key": "\xff"},
        {"x_api_key": KEY, "authorization": "Bearer wrong"},
        {"authorization": "Bearer a.b.c"},
    ],
)
def test_a_missing_or_wrong_key_is_refused(headers, keys):
    with pytest.raises((MissingCredentialError, WrongCredentialError)):
        caller(access(keys, api_key=SecretStr(KEY)), **headers)


def test_a_password_that_a_browser_sends_by_itself_is_for_pages_of_this_site():
    running = access(api_key=SecretStr(KEY))
    headers = {"authorization": basic(KEY), "origin": "https://evil.org"}
    with pytest.raises(ForeignOriginError):
        caller(running, method="POST", **headers)
    assert (
        caller(running, method="POST", x_api_key=KEY, origin="https://evil.org").name == "api key"
    )


def test_what_a_service_passes_on_is_done_by_the_caller_it_names(keys):
    running = access(keys, api_key=SecretStr(KEY))
    key = keys.create("bot", frozenset({Scope.READ}))
    behalf = {ON_BEHALF_HEADER.replace("-", "_"): key}
    assert caller(running, x_api_key=KEY, **behalf).name == "key bot"
    with pytest.raises(WrongCredentialError):
        caller(running, x_api_key=KEY, **{ON_BEHALF_HEADER.replace("-", "_"): "ann"})
    other = keys.create("other", frozenset({Scope.ADMIN}))
    assert caller(running, x_api_key=other, **behalf).name == "key other"


def test_a_delivery_may_come_without_a_key_for_its_signature_alone():
    running = access(api_key=SecretStr(KEY))
    assert caller(running, Need.SIGNED) is NOBODY
    check_need(NOBODY, Need.SIGNED)
    for own in ("Bearer of-the-source", "GenieKey 1", "Basic AAAA"):
        assert caller(running, Need.SIGNED, authorization=own) is NOBODY
    for need in set(Need) - {Need.OPEN, Need.SIGN_IN, Need.SIGNED}:
        with pytest.raises(ScopeMissingError):
            check_need(NOBODY, need)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.VIEWER, {Need.READ}),
        (Role.RESPONDER, {Need.READ, Need.OPERATE, Need.SIGNED, Need.RUN}),
        (Role.APPROVER, set(Need) - {Need.OPEN, Need.SIGN_IN, Need.PLATFORM, Need.ADMIN}),
        (Role.ADMIN, set(Need) - {Need.OPEN, Need.SIGN_IN, Need.PLATFORM}),
    ],
)
def test_what_each_role_may_do(role, allowed):
    person = Caller("ann", CallerKind.PERSON, scopes=SCOPES_OF_ROLE[role])
    for need in set(Need) - {Need.OPEN, Need.SIGN_IN}:
        if need in allowed:
            check_need(person, need)
        else:
            with pytest.raises(ScopeMissingError):
                check_need(person, need)


def test_only_the_platform_writes_what_it_alone_knows(keys):
    running = access(keys, api_key=SecretStr(KEY))
    check_need(caller(running, Need.PLATFORM, x_api_key=KEY), Need.PLATFORM)
    check_need(PLATFORM, Need.PLATFORM)
    check_need(LOCAL, Need.PLATFORM)  # where nobody signs in
    behalf = {ON_BEHALF_HEADER.replace("-", "_"): keys.create("bot", frozenset({Scope.ADMIN}))}
    with pytest.raises(ScopeMissingError):
        check_need(caller(running, Need.PLATFORM, x_api_key=KEY, **behalf), Need.PLATFORM)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_caller_does_not_use_up_what_others_may_send():
    clock = Clock()
    buckets = Buckets(2.0, 3, clock=clock)
    for _ in range(3):
        buckets.take("ann")
    with pytest.raises(TooManyRequestsError) as refused:
        buckets.take("ann")
    assert refused.value.headers() == {"retry-after": "1"}
    buckets.take("bob")
    clock.now += 0.5
    buckets.take("ann")
    with pytest.raises(TooManyRequestsError):
        buckets.take("ann")
    clock.now += 100
    for _ in range(3):
        buckets.take("ann")


def test_buckets_do_not_grow_without_end(monkeypatch):
    monkeypatch.setattr("services.kit.access.gate._MOST_BUCKETS", 10)
    buckets = Buckets(1.0, 1)
    for number in range(100):
        buckets.take(str(number))
    assert len(buckets._left) == 10


def test_a_rate_of_nothing_limits_nothing():
    buckets = Buckets(0, 1)
    for _ in range(100):
        buckets.take("ann")
