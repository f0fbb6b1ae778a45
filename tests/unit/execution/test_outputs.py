from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from services.cli.tools import app
from services.execution.bindings.binding import AnswerTest
from services.execution.tools.compare import ComparisonOperator, Test, all_hold
from services.execution.tools.outputs import read_output
from services.execution.tools.tool import Output, OutputField, Tool
from tests.unit.execution.carrying import CATALOGUE, catalogue

SESSION = """BGP neighbor is 10.0.11.1, spine-1, local AS 65001
  BGP state = Idle
  Administratively shut down: yes"""


def test_fields_are_found_with_their_lines():
    output = read_output(catalogue().tool("bgp_session"), SESSION, "cisco_nxos")
    assert output.fields["state"] == "Idle"
    assert "  BGP state = Idle" in output.lines


def test_terminal_escapes_and_controls_are_taken_out():
    raw = SESSION.replace("Idle", "\x1b[31mId\x07le\x1b[0m\u202e") + "\x1b]0;title\x07"
    output = read_output(catalogue().tool("bgp_session"), raw, "cisco_nxos")
    assert output.fields["state"] == "Idle"
    assert not any("\x1b" in line or "\u202e" in line for line in output.lines)


def test_a_tool_is_tried_on_an_output_that_was_kept(tmp_path):
    answer, notices = tmp_path / "answer", tmp_path / "notices"
    answer.write_text(SESSION + "\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "switch.yaml").write_text((CATALOGUE / "switch.yaml").read_text())
    words = ["try", "bgp_session", "--catalogue", str(tmp_path), "--output", str(answer)]
    seen = CliRunner().invoke(app, words)
    assert (seen.exit_code, seen.output.splitlines()[:2]) == (0, ["seen", "state: Idle"])
    notices.write_text("fatal: the session is gone\n")
    refused = CliRunner().invoke(app, [*words, "--notices", str(notices)])
    assert (refused.exit_code, refused.output.splitlines()[:2]) == (
        1,
        ["not seen: it was refused: fatal: the session is gone", "state: not known"],
    )


def test_garbage_tells_nothing():
    assert read_output(catalogue().tool("bgp_session"), "\x00\xff%$#", "cisco_nxos").fields == {}


def test_secrets_are_taken_out_before_anything_is_kept():
    tool = _tool(Output(redact=(r"snmp \S+",)))
    output = read_output(tool, "snmp verysecret1\npassword: hunter2hunter2\nup", "linux")
    assert "verysecret1" not in str(output)
    assert "hunter2" not in str(output)


def test_an_endless_output_is_cut_and_said_to_be():
    output = read_output(_tool(Output()), "x" * 300_000, "linux")
    assert output.is_cut
    assert sum(map(len, output.lines)) < 5_000


def test_json_is_read_by_its_own_expressions():
    field = OutputField(find="data.result[0].value[1]", type="number")
    tool = _tool(Output(parser="json", fields={"value": field}))
    assert read_output(tool, '{"data": {"result": [{"value": [1, "3.5"]}]}}', "").fields == {
        "value": 3.5
    }
    assert read_output(tool, "no json", "").fields == {}


def test_rows_are_read_by_the_templates_of_ntc():
    raw = """Interface              IP Address      Interface Status
Eth1/1                 10.0.0.1        protocol-up/link-up/admin-up
"""
    field = OutputField(find="[0].interface")
    tool = _tool(Output(parser="rows", template="show ip interface brief", fields={"first": field}))
    output = read_output(tool, raw, "cisco_nxos")
    assert output.fields == {"first": "Eth1/1"}


def _tool(output):
    way = {"by": "ssh", "command": ["show"]}
    return Tool.model_validate(
        {"name": "look", "description": "x", "effect": "read", "target": "t", "way": way}
    ).model_copy(update={"output": output})


UNSEEN = yaml.safe_load((Path(__file__).parent / "unseen_outputs.yaml").read_text())
FIELDS = {
    "text": {
        "failed": OutputField(find=r"(\d+) failed", type="number", absent="0"),
        "left": OutputField(find=r"left: (\S+)", absent=""),
    },
    "json": {
        "failed": OutputField(find="length(items)", type="number"),
        "left": OutputField(find="items[0].name", absent=""),
    },
    "rows": {"left": OutputField(find="[0].interface", absent="")},
}
ANSWERS = [
    AnswerTest(condition=each, tests=(Test(field=field, comparison=comparison, value=value),))
    for each, field, comparison, value in (
        ("Yes", "failed", ComparisonOperator.ABOVE, 0),
        ("No", "failed", ComparisonOperator.IS, 0),
        ("Left", "left", ComparisonOperator.IS_THERE, None),
        ("Gone", "left", ComparisonOperator.IS_MISSING, None),
    )
]


@pytest.mark.parametrize("unseen", UNSEEN, ids=lambda each: each["case"])
def test_what_could_not_be_seen_answers_nothing(unseen):
    signs = {name: unseen[name] for name in ("nothing", "unseen") if name in unseen}
    tool = _asking(unseen["by"], unseen["parser"], **signs)
    output = read_output(tool, unseen["text"], "cisco_nxos", notices=unseen.get("notices", ()))
    assert output.unseen
    assert output.fields == {}
    assert [each for each in ANSWERS if all_hold(each.tests, output.fields) is not None] == []


def test_a_tool_says_how_an_answer_looks_that_found_nothing():
    empty = '{"items": [], "kind": "List"}'
    assert read_output(_asking("http", "json"), empty, "").unseen
    declared = read_output(_asking("http", "json", nothing=r'"items": \[\]'), empty, "")
    assert (declared.unseen, declared.fields) == ("", {"failed": 0, "left": ""})
    header = _asking("ssh", "text", nothing=r"^NAME +STATE")
    assert read_output(header, "NAME   STATE\n", "linux").fields == {"failed": 0, "left": ""}
    assert read_output(header, "", "linux").unseen


@pytest.mark.parametrize("raw", ["3 failed\n", "3 failed\n" + "x" * 300_000])
def test_what_is_absent_needs_an_answer_that_is_there_and_whole(raw):
    output = read_output(_asking("ssh", "text"), raw, "linux")
    assert output.fields == {"failed": 3} | ({} if output.is_cut else {"left": ""})
    assert read_output(_asking("ssh", "text"), "something else", "linux").fields == {}


PARTS = [
    ("json", '{"items": [{"name": "a"}], "metadata": {"continue": "x"}}', {"left": "a"}),
    ("json", '{"items": [], "ok": 1, "jobs": [1], "next": "/jobs?page=2"}', {}),
    ("json", '{"items": [{"n": 1}], "error": "forbidden: you may not read all jobs"}', {}),
    ("json", '{"items": [{"name": {"is": "a"}}]}', {"failed": 1}),
    ("json", '{"items": [{"n": 1}], "_shards": {"failed": 2}}', {}),
    ("text", "3 failed\n... (57 more lines)\n", {"failed": 3}),
    ("text", "3 failed\n[output truncated]\n", {"failed": 3}),
    ("text", "3 failed\n--More--\n", {"failed": 3}),
    ("text", "left: a\nShowing 10 of 57 jobs\n", {"left": "a"}),
]


HINT = "some journals were not opened for want of rights"
NOTICED = [
    ("text", "3 failed\n", [HINT], {"failed": 3}),
    ("text", "0 failed\n", [HINT], {}),
    ("text", "0 failed\n", ["", "Connected to db-1"], {"failed": 0, "left": ""}),
    ("text", "3 failed\nnode-b   <unknown>   <unknown>\n", [], {"failed": 3}),
    ("text", "3 failed\nlag: NULL\n", [], {"failed": 3}),
    ("text", '3 failed\nType "it" for more\n', [], {"failed": 3}),
    ("json", '{"items": [{"name": "a"}], "timed_out": true}', [], {"left": "a"}),
    ("json", '{"items": [{"n": 1}], "state": {"code": "PartialData"}}', [], {}),
    ("json", '{"items": [{"n": 1}], "data": {"groupNextToken": "x"}}', [], {}),
    ("json", '{"items": [{"n": 1}], "data": {"next": "Friday"}}', [], {"failed": 1, "left": ""}),
    ("json", '{"items": [{"n": 1}]}', ['link: </jobs?page=2>; rel="next"'], {}),
    ("json", '{"items": [{"n": 1}]}', ["x-consul-results-filtered-by-acls: true"], {}),
]


@pytest.mark.parametrize(("parser", "text", "notices", "fields"), NOTICED)
def test_what_is_said_beside_an_answer_makes_a_part_of_it(parser, text, notices, fields):
    tool = _asking("http" if parser == "json" else "ssh", parser, noise="^Connected to ")
    output = read_output(tool, text, "", notices=notices)
    assert output.fields == fields
    is_whole = fields.keys() == {"failed", "left"}
    assert output.lines[0].startswith("only a part was seen: ") is not is_whole


def test_a_number_of_a_part_is_not_the_whole():
    total = Output(parser="json", fields={"all": OutputField(find="total", type="number")})
    tool = _asking("http", "json").model_copy(update={"output": total})
    begun = '{"total": 2, "items": [{"n": 1}]'
    assert read_output(tool, begun + "}", "").fields == {"all": 2}
    assert read_output(tool, begun + ', "next": "/jobs?page=2"}', "").fields == {"all": 2}
    assert read_output(tool, begun + ', "incomplete_results": true}', "").fields == {}
    assert read_output(tool, '{"total": "NaN", "items": [1]}', "").fields == {}


@pytest.mark.parametrize(("parser", "text", "fields"), PARTS)
def test_a_part_of_an_answer_decides_nothing_by_what_it_has_not(parser, text, fields):
    assert read_output(_asking("mcp", parser), text, "").fields == fields


def test_a_part_of_what_a_prometheus_has_is_not_seen():
    text = '{"status": "success", "warnings": ["partial response"], "items": [{"name": "a"}]}'
    assert "only a part" in read_output(_asking("prometheus", "json"), text, "").unseen


def test_an_answer_is_cut_by_its_bytes():
    text = "3 failed\n" + "ü" * 150_000
    assert read_output(_asking("ssh", "text"), text, "linux").fields == {"failed": 3}


@pytest.mark.parametrize(
    "line",
    [
        "Nov 28 10:12:44 db-3 sshd[811]: Failed password: Permission denied (publickey)",
        "2026-11-28T10:12:44Z ERROR open /var/x: permission denied",
        "E1128 10:12:44.1 1 reflector.go:138] Failed to watch: pods is forbidden: User cannot list",
        '{"status": "error", "component": "disk", "error": "bad sector", "jobs": [1]}',
    ],
)
def test_a_log_that_tells_of_a_refusal_is_seen(line):
    assert read_output(_asking("ssh", "text"), f"{line}\n", "linux").unseen == ""


def _asking(by, parser, **output):
    ways = {
        "ssh": {"by": "ssh", "command": ["show"]},
        "http": {"by": "http", "path": "/jobs"},
        "prometheus": {"by": "prometheus", "query": "up"},
        "mcp": {"by": "mcp", "name": "jobs"},
    }
    template = "show ip interface brief" if parser == "rows" else ""
    described = Output(parser=parser, template=template, fields=FIELDS[parser], **output)
    return Tool(
        name="jobs",
        description="See the jobs",
        effect="read",
        target="host",
        way=ways[by],
        output=described,
    )
