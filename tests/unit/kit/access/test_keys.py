"""Keys: shown once, kept as a hash, ended by time or by hand."""

import pytest
from sqlalchemy import select

from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.access.caller import LOCAL, CallerKind, acting_as
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.keys import (
    KeyNameTakenError,
    KeyNotFoundError,
    Keys,
    UnusableKeyNameError,
)
from services.kit.access.scopes import Scope
from services.kit.sql.database import Database
from services.kit.tables import ApiKeyRow

READ = frozenset({Scope.READ})
DAY = 86_400


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database():
    database = Database.memory()
    database.migrate("kit")
    yield database
    database.close()


@pytest.fixture
def keys(database, clock):
    return Keys(database, clock=clock)


def rows(database):
    with database.session() as session:
        return list(session.scalars(select(ApiKeyRow)))


def test_a_key_has_the_scopes_that_it_was_made_with(keys):
    caller = keys.caller(keys.create("bot", READ | {Scope.INGEST}))
    assert (caller.name, caller.kind) == ("key bot", CallerKind.KEY)
    assert caller.scopes == {Scope.READ, Scope.INGEST}


def test_admin_includes_the_others_but_approves_nothing(keys):
    caller = keys.caller(keys.create("root", frozenset({Scope.ADMIN})))
    assert caller.scopes == set(Scope) - {Scope.APPROVE}


@pytest.mark.parametrize(
    "scopes", [frozenset(), frozenset({Scope.APPROVE}), READ | {Scope.APPROVE}]
)
def test_no_key_is_made_that_approves_or_does_nothing(keys, scopes):
    with pytest.raises(UnusableKeyNameError):
        keys.create("bot", frozenset(scopes))


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", "x" * 81, "a\n"])
def test_a_name_is_a_word(keys, name):
    with pytest.raises(UnusableKeyNameError):
        keys.create(name, READ)


def test_the_database_does_not_hold_the_key(keys, database):
    key = keys.create("bot", READ)
    prefix, secret = key[3:15], key[16:]
    (row,) = rows(database)
    columns = [str(value) for value in vars(row).values()]
    assert row.prefix == prefix
    assert not any(secret in each for each in columns)
    assert len(row.hash) == 32


def test_two_keys_of_one_name_are_refused_also_after_the_first_is_revoked(keys):
    keys.create("bot", READ)
    with pytest.raises(KeyNameTakenError):
        keys.create("bot", READ)
    keys.revoke("bot")
    with pytest.raises(KeyNameTakenError):
        keys.create("bot", READ)


def test_a_wrong_key_is_refused(keys):
    key = keys.create("bot", READ)
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    for each in (wrong, key + "x", key[:-1], "fx_000000000000_" + "A" * 43, "", "x" * 16, "é" * 20):
        with pytest.raises(WrongCredentialError):
            keys.caller(each)
    keys.caller(key)
    with pytest.raises(WrongCredentialError):
        keys.caller(wrong)


def test_a_key_ends_at_its_time(keys, clock):
    key = keys.create("bot", READ, days=1)
    keys.caller(key)
    clock.now += DAY - 0.5
    keys.caller(key)
    assert keys.cached_caller(key) is not None
    clock.now += 0.6
    assert keys.cached_caller(key) is None
    with pytest.raises(WrongCredentialError):
        keys.caller(key)


def test_a_revoked_key_is_refused_here_at_once_and_elsewhere_within_a_second(keys, database, clock):
    elsewhere = Keys(database, clock=clock)
    key = keys.create("bot", READ)
    for each in (keys, elsewhere):
        each.caller(key)
    keys.revoke("bot")
    assert keys.cached_caller(key) is None
    assert elsewhere.cached_caller(key) is not None
    clock.now += 1.1
    assert elsewhere.cached_caller(key) is None
    for each in (keys, elsewhere):
        with pytest.raises(WrongCredentialError):
            each.caller(key)
    with pytest.raises(KeyNotFoundError):
        keys.rotate("bot")


def test_rotating_ends_the_old_key_and_keeps_scopes_and_end(keys, clock):
    old = keys.create("bot", READ, days=10)
    new = keys.rotate("bot")
    with pytest.raises(WrongCredentialError):
        keys.caller(old)
    assert keys.caller(new).scopes == READ
    assert keys.list()[0].expires_at.timestamp() == clock.now + 10 * DAY
    keys.rotate("bot", days=1)
    assert keys.list()[0].expires_at.timestamp() == clock.now + DAY


def test_use_is_noted_once_a_minute(keys, clock, database):
    key = keys.create("bot", READ)
    first = clock.now
    for _ in range(5):
        keys.caller(key)
        clock.now += 10
    assert rows(database)[0].last_used_at == first
    clock.now += 30
    keys.caller(key)
    assert rows(database)[0].last_used_at == clock.now


def test_what_is_done_to_keys_is_in_the_audit_log(keys, database):
    with acting_as(LOCAL):
        key = keys.create("bot", READ)
        keys.rotate("bot")
        keys.revoke("bot")
    lines = AuditLog(database).lines(AuditFilter(action="key"))
    assert [line["action"] for line in lines] == ["key.revoked", "key.rotated", "key.created"]
    assert {line["who"] for line in lines} == {"local"}
    assert lines[0]["before"]["revoked_at"] is None
    assert lines[0]["after"]["revoked_at"] is not None
    assert key[16:] not in str(lines)
