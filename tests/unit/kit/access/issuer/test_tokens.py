"""Bearer tokens: whose they are, and which are refused."""

import base64
import hmac
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import ValidationError
from sqlalchemy import event

from services.kit.access.access import Access
from services.kit.access.caller import CallerKind
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.issuer.tokens import IssuerUnavailableError, Jwks, Tokens
from services.kit.access.keys import Keys
from services.kit.access.needs import Need
from services.kit.access.scopes import Role, Scope
from services.kit.access.sessions.people import People
from services.kit.access.settings import OidcSettings
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.teaching.ledger import TeachingLedger, record_teaching
from tests.issuer import AUDIENCE, ISSUER, Issuer

URL = "https://login.example.org/jwks"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def made() -> Issuer:
    return Issuer()


@pytest.fixture
def issuer(made) -> Issuer:
    made.document = {"keys": [made.rsa_jwk("one"), made.ec_jwk("two")]}
    made.status, made.fetched = 200, 0
    return made


@pytest.fixture
def clock() -> Clock:
    return Clock()


def tokens_of(issuer, clock=time.monotonic, **settings):
    chosen = {"issuer": ISSUER, "audience": AUDIENCE, "jwks_url": URL, **settings}
    jwks = Jwks(URL, transport=issuer.transport(), clock=clock)
    return Tokens(OidcSettings(_env_file=None, **chosen), jwks)


@pytest.mark.parametrize(
    ("algorithm", "key_id"), [("RS256", "one"), ("PS384", "one"), ("ES256", "two")]
)
def test_a_token_names_a_person_with_roles(issuer, algorithm, key_id):
    caller = tokens_of(issuer).caller(issuer.token("approver", algorithm=algorithm, key_id=key_id))
    assert (caller.name, caller.kind, caller.id) == ("ann", CallerKind.PERSON, f"{ISSUER}#u-1")
    assert caller.roles == {Role.APPROVER}
    assert caller.scopes == {Scope.READ, Scope.OPERATE, Scope.INGEST, Scope.RUN, Scope.APPROVE}


def test_roles_come_from_the_claim_that_is_set_and_by_the_mapping(issuer):
    tokens = tokens_of(
        issuer, roles_claim="realm_access.groups", roles={"sre": "responder", "leads": "admin"}
    )

    def roles(groups):
        return tokens.caller(issuer.token(realm_access={"groups": groups})).roles

    assert roles(["sre", "admin", "unknown"]) == {Role.RESPONDER}
    assert roles("sre leads") == {Role.RESPONDER, Role.ADMIN}
    for odd in (None, 3, {"sre": 1}, [["sre"]], "admin"):
        assert roles(odd) == set()


def test_a_token_without_a_name_is_named_by_its_subject(issuer):
    assert tokens_of(issuer).caller(issuer.token(preferred_username=" ")).name == "u-1"
    for reserved in ("platform", "key bot", "source jira"):
        token = issuer.token(sub=reserved, preferred_username="")
        assert tokens_of(issuer).caller(token).name == f"{reserved} ({reserved})"


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example.org"},
        {"aud": "another"},
        {"aud": ["another"]},
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": int(time.time()) + 86_400},
        {"iat": int(time.time()) + 86_400},
        {"sub": None},
        {"sub": 7},
        {"sub": ""},
        {"sub": " \u200b\t"},
        {"key_id": None},
        {"key_id": "three"},
        {"key_id": "two"},
    ],
)
def test_a_token_for_others_or_past_its_time_is_refused(issuer, change):
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer).caller(issuer.token("admin", **change))


def test_clocks_may_differ_a_little(issuer):
    late = issuer.token("admin", exp=int(time.time()) - 10)
    assert tokens_of(issuer).caller(late).name == "ann"
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer, leeway_s=1).caller(late)


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_that_nobody_signed_is_refused(issuer):
    header = {"alg": "none", "kid": "one", "typ": "JWT"}
    for signature in ("", "AAAA"):
        token = f"{part(header)}.{part(issuer.claims('admin'))}.{signature}"
        with pytest.raises(WrongCredentialError):
            tokens_of(issuer).caller(token)


def test_a_public_key_is_no_shared_secret(issuer):
    secret = issuer.rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    text = f"{part({'alg': 'HS256', 'kid': 'one'})}.{part(issuer.claims('admin'))}"
    signed = hmac.new(secret, text.encode(), "sha256").digest()
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer).caller(f"{text}.{base64.urlsafe_b64encode(signed).decode().rstrip('=')}")
    issuer.document = {"keys": [{"kty": "oct", "kid": "one", "k": "c2VjcmV0" * 8}]}
    token = jwt.encode(issuer.claims("admin"), b"secret" * 8, "HS256", {"kid": "one"})
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer).caller(token)


def test_a_key_is_for_the_algorithm_that_the_issuer_says_and_for_signing(issuer):
    issuer.document = {"keys": [issuer.rsa_jwk("one", alg="RS512")]}
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer).caller(issuer.token("admin"))
    assert tokens_of(issuer).caller(issuer.token("admin", algorithm="RS512")).name == "ann"
    issuer.document = {"keys": [issuer.rsa_jwk("one", use="enc")]}
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer).caller(issuer.token("admin"))


@pytest.mark.parametrize("odd", ["", "..", "a.b.c", "eyJ.eyJ.x", f"{part([])}.{part([])}.x"])
def test_what_is_no_token_is_refused(issuer, odd):
    with pytest.raises(WrongCredentialError):
        tokens_of(issuer).caller(odd)


def test_keys_are_fetched_once_and_anew_for_an_unknown_key(issuer, clock):
    tokens = tokens_of(issuer, clock)
    for _ in range(3):
        tokens.caller(issuer.token("viewer"))
    assert issuer.fetched == 1
    issuer.document = {"keys": [issuer.rsa_jwk("new")]}
    clock.now += 31
    assert tokens.caller(issuer.token("viewer", key_id="new")).name == "ann"
    assert issuer.fetched == 2


def test_unknown_keys_do_not_make_it_fetch_all_the_time(issuer, clock):
    tokens = tokens_of(issuer, clock)
    for number in range(50):
        clock.now += 1
        with pytest.raises(WrongCredentialError):
            tokens.caller(issuer.token("admin", key_id=f"guess-{number}"))
    assert issuer.fetched <= 3


def test_an_issuer_that_does_not_answer_lets_nobody_in_and_is_asked_again(issuer, clock):
    tokens = tokens_of(issuer, clock)
    issuer.status = 500
    for _ in range(5):
        with pytest.raises(IssuerUnavailableError, match="answered 500"):
            tokens.caller(issuer.token("admin"))
    assert issuer.fetched == 1
    issuer.status = 200
    clock.now += 6
    assert tokens.caller(issuer.token("admin")).name == "ann"


def test_known_keys_hold_for_a_while_when_the_issuer_is_gone(issuer, clock):
    tokens = tokens_of(issuer, clock)
    tokens.caller(issuer.token("admin"))
    issuer.status = 503
    clock.now += 3000
    assert tokens.caller(issuer.token("admin")).name == "ann"
    clock.now += 700
    with pytest.raises(IssuerUnavailableError):
        tokens.caller(issuer.token("admin"))


@pytest.mark.parametrize(
    "document", [[], {"keys": 3}, "x", {"keys": [3, {}, {"kid": "one", "kty": "RSA"}]}]
)
def test_what_is_no_set_of_keys_lets_nobody_in(issuer, document):
    issuer.document = document
    with pytest.raises((IssuerUnavailableError, WrongCredentialError)):
        tokens_of(issuer).caller(issuer.token("admin"))


def test_keys_are_not_fetched_from_where_a_redirect_leads(issuer):
    issuer.status = 302
    with pytest.raises(IssuerUnavailableError, match="302"):
        tokens_of(issuer).caller(issuer.token("admin"))


@pytest.mark.parametrize(
    "settings",
    [
        {"issuer": ISSUER},
        {"issuer": ISSUER, "audience": "a"},
        {"issuer": ISSUER, "audience": "a", "jwks_url": "http://login.example.org/jwks"},
        {"issuer": ISSUER, "audience": "a", "jwks_url": "file:///etc/keys"},
        {"issuer": ISSUER, "audience": "a", "jwks_url": URL, "roles": {"x": "king"}},
    ],
)
def test_settings_that_would_not_be_safe_are_refused(settings):
    with pytest.raises(ValidationError):
        OidcSettings(_env_file=None, **settings)


def test_of_two_people_with_one_name_the_second_has_the_subject_beside_it(issuer):
    database = Database.memory()
    database.migrate("kit")
    access = Access(
        PlatformSettings(_env_file=None), tokens=tokens_of(issuer), people=People(database)
    )
    names = []
    for subject in ("u-1", "u-2", "u-1", "u-2"):
        token = issuer.token("approver", sub=subject, preferred_username="ann")
        headers = [(b"host", b"a"), (b"authorization", f"Bearer {token}".encode())]
        request = {"type": "http", "method": "GET", "path": "/v1/tickets", "headers": headers}
        names.append(access.caller(request, Need.READ).name)
    assert names == ["ann", "ann (u-2)"] * 2
    database.close()


def test_a_key_that_was_given_by_name_is_its_person_s_once_they_come_with_a_token(issuer):
    database = Database.memory()
    database.migrate("kit")
    keys = Keys(database)
    owners = {"desk": "ann", "bot": "ann", "other": "bea"}
    callers = {
        n: keys.caller(keys.create(n, frozenset({Scope.READ}), owner=owners[n])) for n in owners
    }
    with database.session() as session:
        for name, caller in callers.items():
            record_teaching(session, f"ticket {name}", caller)
    access = Access(
        PlatformSettings(_env_file=None),
        keys=keys,
        tokens=tokens_of(issuer),
        people=People(database),
    )
    headers = [(b"host", b"a"), (b"authorization", f"Bearer {issuer.token('approver')}".encode())]
    request = {"type": "http", "method": "GET", "path": "/v1/tickets", "headers": headers}
    person = access.caller(request, Need.READ)
    assert {each.name: each.owner for each in keys.list()} == {
        "desk": "u-1",
        "bot": "u-1",
        "other": "bea",
    }
    taught = {each.caller: each.teacher for each in TeachingLedger(database).counts()}
    assert taught == {
        "key desk": person.teacher,
        "key bot": person.teacher,
        "key other": "person:bea",
    }
    statements = []
    event.listen(database.engine, "before_cursor_execute", lambda *each: statements.append(each[2]))
    assert access.caller(request, Need.READ) == person
    assert statements == []
    database.close()
