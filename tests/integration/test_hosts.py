"""A Linux host through a real OpenSSH server: what is sent, what is not, and a whole run on it."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from services.execution.adapters.port import NotSentError, StoppedError, UnknownEffectError
from services.execution.adapters.ssh import SshAdapter
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.outputs import read_output
from services.execution.tools.tool import BadArgumentError, Tool
from services.knowledge.screening.document import hash_of
from services.runbook.model import Reader, as_json
from tests.readings import drawn_reading, reading_of_list
from tests.servers.openssh import SSHD, WHERE, new_key, openssh, serving
from tests.waiting import eventually
from tests.worlds import team_over

pytestmark = pytest.mark.skipif(not SSHD.exists(), reason=WHERE)

TOOLS = r"""
- name: disk_usage
  description: Show how full the file system of a mount is
  effect: read
  target: host
  label: instance
  way: {by: ssh, command: [df, -P, "{mount}"]}
  parameters: {mount: {pattern: "/[\\w/.-]*", labels: [mountpoint]}}
  output:
    fields: {usage: {find: "(\\d+)% +/", type: number, unit: percent, description: usage}}
- name: log_tail
  description: Show the last lines of a log
  effect: read
  target: host
  label: instance
  way: {by: ssh, command: [tail, -n, "{count}", "{path}"]}
  parameters:
    count: {type: integer, pattern: "\\d{1,4}", minimum: 1, maximum: 1000}
    path: {pattern: "(?s)/.+", labels: [path]}
  output: {fields: {last: {find: "(\\w+)\\s*\\Z", description: last word of the log}}}
- name: log_size
  description: Show the size of a log
  effect: read
  target: host
  label: instance
  way: {by: ssh, command: [stat, -c, "%s", "{path}"]}
  parameters: {path: &path {pattern: "/[\\w/.-]+", labels: [path]}}
  output:
    fields: {size: {find: "^(\\d+)$", type: number, unit: bytes, description: size of the log}}
- name: log_empty
  description: Empty a log
  effect: change
  target: host
  label: instance
  way: {by: ssh, command: [truncate, -s, "0", "{path}"]}
  parameters: {path: *path}
  before:
    - tool: log_size
      arguments: {path: "{path}"}
      tests: [{field: size, comparison: above, value: 0}]
  verify:
    tool: log_size
    arguments: {path: "{path}"}
    tests: [{field: size, comparison: is, value: 0}]
    within_s: 10
    every_s: 1
- name: log_rotate
  description: Rotate a log
  effect: change
  target: host
  label: instance
  way: {by: ssh, command: [sh, -c, 'echo rotated >> "$0"; exec sleep 60', "{path}"]}
  parameters: {path: *path}
  verify:
    tool: log_tail
    arguments: {path: "{path}", count: "1"}
    tests: [{field: last, comparison: is, value: rotated}]
    within_s: 10
    every_s: 1
  timeout_s: 1.5
- name: numbers
  description: Count without an end
  effect: read
  target: host
  label: instance
  way: {by: ssh, command: [seq, "1000000000"]}
  most_bytes: 20000
  timeout_s: 8
- name: pump_stop
  description: Stop a pump
  effect: change
  target: host
  label: instance
  way: &ends {by: ssh, command: [sh, -c, 'echo "$1"; exit "$0"', "{status}", "{says}"]}
  parameters: &said {status: {}, says: {pattern: ".*"}}
- name: pump_lines
  description: Find lines about a pump
  effect: read
  target: host
  label: instance
  way: {<<: *ends, statuses: [0, 1]}
  parameters: *said
- name: drops
  description: Say a word now and then, without an end
  effect: read
  target: host
  label: instance
  way: {by: ssh, command: [sh, -c, "while :; do echo tick; sleep 0.2; done"]}
  timeout_s: 2
"""
POLICY = {
    "changes": {
        "installation": True,
        "tools": ["log_empty", "log_rotate"],
        "documents": ["LogTooLarge.md", "LogNotRotated.md"],
    }
}
PAGE = """
# LogTooLarge

The log of a service takes more room than it was given.

## Steps

1. Look at the size of the log:

   ```
   stat -c %s <path>
   ```

2. Is the size of the log above 1000 bytes?

   - Yes: empty it:

     ```
     truncate -s 0 <path>
     ```

   - No: close the alert as a false alarm.
"""
ROTATED = """
# LogNotRotated

The log of a service was not rotated last night.

## Steps

1. Rotate the log.
"""
ABOVE = {
    "choice": "exclusive",
    "at": [[13, 13]],
    "arms": [
        {
            "when": "Is the size of the log above 1000 bytes?",
            "at": [[13, 13]],
            "steps": [{"do": "Empty it", "commands": ["truncate -s 0 <path>"], "at": [[15, 19]]}],
        }
    ],
    "otherwise": [
        {"end": "not_this_fault", "text": "Close the alert as a false alarm", "at": [[21, 21]]}
    ],
}
LOOK = {"do": "Look at the size of the log", "commands": ["stat -c %s <path>"], "at": [[7, 11]]}
READINGS = {
    PAGE.lstrip(): drawn_reading("LogTooLarge", LOOK, ABOVE),
    ROTATED.lstrip(): reading_of_list(ROTATED.lstrip(), Reader.PERSON),
}


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with openssh(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture(scope="module")
def catalogue(host, tmp_path_factory):
    folder = tmp_path_factory.mktemp("catalogue")
    (folder / "tools").mkdir()
    (folder / "tools" / "host.yaml").write_text(TOOLS)
    target = json.loads(host.target.model_dump_json())
    (folder / "targets.yaml").write_text(yaml.safe_dump([target]))
    (folder / "policy.yaml").write_text(yaml.safe_dump(POLICY))
    return folder


@pytest.fixture
def call(host, catalogue):
    """Calls a tool on the host, or on another `target`."""
    loaded = Catalogue.of_folder(catalogue)

    def call(name, target=None, **arguments):
        tool = loaded.tool(name)
        return SshAdapter().call(tool, target or host.target, tool.checked(arguments)).text

    return call


def test_a_host_tells_how_full_a_file_system_is(call, catalogue):
    output = call("disk_usage", mount="/")
    usage = read_output(Catalogue.of_folder(catalogue).tool("disk_usage"), output, "linux").fields
    used = shutil.disk_usage("/")
    assert usage["usage"] == pytest.approx(100 * used.used / (used.used + used.free), abs=2)


def test_the_last_lines_of_a_log_are_returned(call, tmp_path):
    log = tmp_path / "service.log"
    log.write_text("one\ntwo\nthree\n")
    assert call("log_tail", path=str(log), count="2") == "two\nthree\n"


@pytest.mark.parametrize(
    "name",
    [
        "a; touch owned",
        "a && touch owned",
        "a | tee owned",
        "a$(touch owned)",
        "a`touch owned`",
        "a\ntouch owned",
        "a > owned",
        'it\'s "quoted" & a * ? [b] ~ $HOME #',
    ],
)
def test_what_a_shell_would_read_stays_one_word(call, tmp_path, name):
    log = tmp_path / name
    log.write_text("as it is\n")
    before = {*Path.home().iterdir(), *tmp_path.iterdir()}
    assert call("log_tail", path=str(log), count="1") == "as it is\n"
    assert {*Path.home().iterdir(), *tmp_path.iterdir()} == before


@pytest.mark.parametrize("value", ["-rf", "/a b; reboot", "$(reboot)", "/x\n"])
def test_an_argument_that_the_catalogue_does_not_allow_is_not_sent(call, value):
    with pytest.raises(BadArgumentError):
        call("disk_usage", mount=value)


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_a_host_that_shows_another_key_is_sent_nothing(host, call, tmp_path, kind):
    other, log = tmp_path / "sshd", tmp_path / "log"
    shutil.copytree(host.folder, other)
    new_key(other / "host_key", kind)
    with serving(other) as moved:
        target = host.target.model_copy(update={"port": moved.port})
        with pytest.raises(StoppedError, match="another host key"):
            call("log_rotate", target, path=str(log))
        call("disk_usage", moved.target, mount="/")  # with its own key it is spoken to
    assert not log.exists()


def test_a_host_that_refuses_the_key_is_sent_nothing(host, call, tmp_path):
    log, other = tmp_path / "log", new_key(tmp_path / "other_key")
    target = host.target.model_copy(update={"key_file": other})
    with pytest.raises(StoppedError, match="refused to log"):
        call("log_rotate", target, path=str(log))
    assert not log.exists()


def test_a_host_that_is_away_is_sent_nothing(host, call):
    with pytest.raises(NotSentError, match="cannot be reached"):
        call("disk_usage", host.target.model_copy(update={"port": 1}), mount="/")


def test_a_command_that_hangs_after_it_was_sent_may_have_done_something(call, tmp_path):
    log = tmp_path / "log"
    with pytest.raises(UnknownEffectError, match="did not answer log_rotate"):
        call("log_rotate", path=str(log))
    eventually(lambda: log.exists() and log.read_text() == "rotated\n")


def test_a_command_that_never_ends_is_cut_or_given_up(call):
    assert len(call("numbers")) > 20_000
    with pytest.raises(UnknownEffectError, match="did not answer drops"):
        call("drops")


def test_a_command_that_ends_otherwise_than_its_tool_says_is_not_done(call):
    assert call("pump_stop", status="0", says="stopped") == "stopped\n"
    with pytest.raises(UnknownEffectError, match="pump_stop ended with status 255: no rights"):
        call("pump_stop", status="255", says="no rights")
    assert call("pump_lines", status="1", says="") == "\n"
    with pytest.raises(UnknownEffectError, match="status 2"):
        call("pump_lines", status="2", says="")


def test_what_a_host_says_on_stderr_is_told_apart_and_seen(host, catalogue):
    way = {"by": "ssh", "command": ["sh", "-c", "echo 0 failed; echo not all was read >&2"]}
    fields = {"failed": {"find": r"(\d+) failed", "type": "number"}}
    described = {"name": "jobs", "description": "x", "effect": "read", "target": host.target.kind}
    tool = Tool.model_validate(described | {"way": way, "output": {"fields": fields}})
    answer = SshAdapter().call(tool, host.target, {})
    assert answer == ("0 failed\nnot all was read", ("not all was read",))
    output = read_output(tool, answer.text, "linux", notices=answer.notices)
    assert (output.fields, output.lines[0]) == ({}, "only a part was seen: not all was read")


@pytest.fixture(scope="module")
def team(catalogue, tmp_path_factory):
    folder = tmp_path_factory.mktemp("platform")
    pages = folder / "pages"
    pages.mkdir()
    (pages / "LogTooLarge.md").write_text(PAGE.lstrip())
    (pages / "LogNotRotated.md").write_text(ROTATED.lstrip())
    with team_over(catalogue, folder, pages) as people:
        for text, reading in READINGS.items():
            where = f"/v1/readings/{hash_of(text)}"
            people.bea.put(where, json=as_json(reading)).raise_for_status()
        people.approve_pages()
        yield people


def test_a_run_empties_a_log_by_leave_and_sees_that_it_is_empty(team, tmp_path):
    log = tmp_path / "service.log"
    log.write_text("a line of a log\n" * 500)
    labels = {"alertname": "LogTooLarge", "instance": "host-1", "path": str(log)}
    ticket = team.ticket("The log of a service is too large", **labels)
    team.approve_bindings(ticket["id"])
    run = team.carried(ticket["id"])
    assert run.outcome == "recovered", run.model_dump_json(indent=1)
    assert team.leaves[-1] == f"truncate -s 0 {log}"
    decided = [e.facts for e in run.events if e.kind == "decided"]
    assert [(each["by"], each["answer"]) for each in decided] == [
        ("evidence", "Yes"),
        ("verification", "Yes"),
    ]
    assert log.read_text() == ""


def test_a_run_whose_change_hangs_asks_and_does_not_send_it_again(team, tmp_path):
    log = tmp_path / "service.log"
    labels = {"alertname": "LogNotRotated", "instance": "host-1", "path": str(log)}
    ticket = team.ticket("The log of a service was not rotated", **labels)
    team.approve_bindings(ticket["id"])
    run = team.carried(ticket["id"])
    assert run.question.what == "unknown"
    assert run.question.evidence == ("rotated",)
    answer = {"question": run.question.seq, "option": "it was made"}
    team.ann.post(f"/v1/runs/{run.id}/answer", json=answer).raise_for_status()
    run = team.until_rest(run.id)
    assert run.outcome == "recovered"
    assert log.read_text() == "rotated\n"
