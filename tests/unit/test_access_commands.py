"""`flowxpert keys`, `audit` and `tickets purge`, on the database of a data folder."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.cli import app
from services.kit.access.caller import LOCAL, acting_as
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.keys import Keys
from services.kit.access.scopes import Role, Scope
from services.kit.access.sessions.people import Person
from services.kit.access.sessions.sessions import SessionEndedError, Sessions
from services.kit.data_dir import DataDirUnusableError
from services.kit.errors import FlowXpertError
from services.kit.sql.database import Database


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLOWXPERT_DATA_DIR", str(tmp_path / "data"))

    def run(*words):
        with acting_as(LOCAL):
            return CliRunner().invoke(app, words, catch_exceptions=False)

    return run


@pytest.fixture
def keys(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'data' / 'flowxpert.db'}")
    yield Keys(database)
    database.close()


def test_a_folder_that_is_made_for_a_key_is_for_its_owner_alone(run, tmp_path):
    run("keys", "create", "bot", "--scope", "read")
    assert Path(tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_key_is_shown_once_and_works(run, keys):
    made = run("keys", "create", "bot", "--scope", "read", "--scope", "ingest", "--expires", "7")
    key = made.stdout.strip()
    assert keys.caller(key).scopes == {Scope.READ, Scope.INGEST}
    listed = run("keys", "list", "--json").stdout
    (row,) = json.loads(listed)
    assert (row["name"], row["state"], row["created_by"]) == ("bot", "active", "local")
    assert key[16:] not in listed + run("keys", "list").stdout


def test_sessions_are_listed_by_name_and_ended(run, keys):
    key = run("keys", "create", "bot", "--scope", "read").stdout.strip()
    sessions = Sessions(keys._database, keys)
    person = Person("https://login.example.org", "u-1", "ann", frozenset({Role.VIEWER}))
    ids = [sessions.begin(person), sessions.begin_with_key(key)]
    listed = json.loads(run("sessions", "list", "--json").stdout)
    assert [(row["name"], row["kind"]) for row in listed] == [("ann", "person"), ("key bot", "key")]
    assert not any(id_ in run("sessions", "list").stdout for id_ in ids)
    assert "1 session ended" in run("sessions", "end", "key bot").stderr
    assert "0 sessions ended" in run("sessions", "end", "nobody").stderr
    with pytest.raises(SessionEndedError):
        sessions.caller(ids[1])
    listed = json.loads(run("sessions", "list", "--json").stdout)
    assert [row["name"] for row in listed] == ["ann"]


def test_rotated_and_revoked_keys_end(run, keys):
    old = run("keys", "create", "bot", "--scope", "admin").stdout.strip()
    new = json.loads(run("keys", "rotate", "bot", "--json").stdout)["key"]
    with pytest.raises(WrongCredentialError):
        keys.caller(old)
    keys.caller(new)
    assert run("keys", "revoke", "bot").exit_code == 0
    with pytest.raises(WrongCredentialError):
        keys.caller(new)
    actions = [line["action"] for line in json.loads(run("audit", "--json").stdout)]
    assert actions == ["key.revoked", "key.rotated", "key.created"]
    assert "key.revoked" in run("audit", "--who", "local").stdout
    assert "key." not in run("audit", "--who", "eve").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "create", "bot", "--scope", "approve"),
        ("keys", "create", "bot", "--scope", "everything"),
        ("keys", "create", "a b", "--scope", "read"),
        ("keys", "rotate", "nobody"),
        ("keys", "revoke", "nobody"),
        ("tickets", "purge"),
    ],
)
def test_what_cannot_be_done_is_refused(run, words):
    with pytest.raises(FlowXpertError):
        run(*words)


def test_a_purge_says_what_it_did(run):
    assert json.loads(run("tickets", "purge", "--days", "3", "--dry", "--json").stdout) == {
        "tickets": 0,
        "answers": 0,
    }
    assert "0 tickets are deleted" in run("tickets", "purge", "--days", "3").stdout


def test_a_file_is_no_data_folder(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataDirUnusableError, match="no data folder can be made"):
        run("keys", "list", "--data-dir", str(tmp_path / "file"))
