import pytest

from services.execution.tools.template import BadTemplateError, CommandTemplate, is_blank
from services.execution.tools.tool import BadArgumentError, ParameterSpec, Tool
from tests.unit.execution.carrying import catalogue

SHOW = CommandTemplate(["show", "interface", "{interface}"])


def test_an_argument_stays_within_its_word():
    assert SHOW.filled({"interface": "Ethernet1/1; reload"}) == [
        "show",
        "interface",
        "Ethernet1/1; reload",
    ]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("show interface Ethernet1/1", {"interface": "Ethernet1/1"}),
        ("$ show interface <interface>", {"interface": "<interface>"}),
        ("show interface <name of the port>", {"interface": "<name of the port>"}),
        ("SHOW interface Ethernet1/1", {"interface": "Ethernet1/1"}),
        ("show interface", None),
        ("show interface Ethernet1/1 transceiver", None),
        ("show interface Ethernet1/1 | include CRC", None),
        ("show interfaces Ethernet1/1", None),
        ("show interface 'Ethernet1/1", None),
    ],
)
def test_a_command_is_a_template_s_as_a_whole_or_not_at_all(command, arguments):
    assert SHOW.match_command(command) == arguments


def test_a_word_with_two_places_or_an_open_brace_is_no_template():
    for word in ("{a}{b}", "{a", "x{"):
        with pytest.raises(BadTemplateError):
            CommandTemplate(["show", word])


def test_what_a_page_leaves_open_is_a_blank():
    assert is_blank("<neighbor>")
    assert is_blank("$NEIGHBOR")
    assert not is_blank("10.0.0.1")


@pytest.mark.parametrize(
    "value",
    [
        "10.0.0.1; reload",
        "10.0.0.1\nreload",
        "-h",
        "",
        "10.0.0.1 ",
        "$(reload)",
        "`x`",
        "１0.0.0.1",
    ],
)
def test_what_is_no_address_is_not_sent(value):
    with pytest.raises(BadArgumentError):
        catalogue().tool("bgp_session").checked({"neighbor": value})


@pytest.mark.parametrize(
    "value", ["a b", "--force", "a;b", "a|b", "a&b", "a>b", "$x", "a\tb", "x" * 201]
)
def test_without_a_pattern_an_argument_is_one_plain_word(value):
    with pytest.raises(BadArgumentError):
        ParameterSpec().checked("name", value)


@pytest.mark.parametrize(
    ("way", "values"),
    [
        ({"by": "http", "path": "/pumps/{x}"}, [".", "..", "", "a/../b", "./"]),
        ({"by": "http", "path": "/pumps/.{x}"}, [".", ""]),
        (
            {"by": "ssh", "command": ["grep", "full", "/srv/{x}"]},
            [".", "..", "../../etc/key", "a/.."],
        ),
        ({"by": "ssh", "command": ["grep", "full", "--file=/srv/{x}/log"]}, ["..", "a/./b"]),
    ],
)
def test_an_argument_stays_where_its_path_leads(way, values):
    parameters = {"x": {"pattern": ".*"}}
    tool = {"name": "look", "description": "x", "effect": "read", "target": "t", "way": way}
    tool = Tool.model_validate({**tool, "parameters": parameters})
    for value in ("left", "left..right", "..left"):
        assert tool.checked({"x": value}) == {"x": value}
    for value in values:
        with pytest.raises(BadArgumentError, match="would leave its place"):
            tool.checked({"x": value})


def test_no_pattern_lets_a_nul_through():
    free = ParameterSpec(pattern="(?s).*")
    assert free.checked("name", "a\n;b") == "a\n;b"
    with pytest.raises(BadArgumentError):
        free.checked("name", "a\0b")


def test_a_number_lies_in_its_range():
    tool = catalogue().tool("log")
    assert tool.checked({"count": "20"}) == {"count": "20"}
    for value in ("0", "500", "2.5", "x"):
        with pytest.raises(BadArgumentError):
            tool.checked({"count": value})


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("See who touched it: show interface Ethernet1/1.", {"interface": "Ethernet1/1"}),
        ("Wait, then `show interface <port>` again", {"interface": "<port>"}),
        ("Show interface <port>: admin state down?", {"interface": "<port>"}),
        ("Show the interface", None),
        ("reshow interface x", None),
    ],
)
def test_a_command_is_found_in_a_sentence(text, arguments):
    assert SHOW.match_in_text(text) == arguments
