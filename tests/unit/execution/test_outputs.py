from services.execution.tools.outputs import read_output
from services.execution.tools.tool import Output, OutputField, Tool
from tests.unit.execution.carrying import catalogue

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
