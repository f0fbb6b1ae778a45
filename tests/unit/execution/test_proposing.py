import pytest

from services.execution.bindings.binding import Origin
from services.execution.bindings.proposer import BindingProposer
from services.execution.bindings.targets import choose_target
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.target import Target
from services.execution.tools.tool import Tool
from services.workflow.model import Step, StepKind, Transition, Workflow
from tests.unit.execution.carrying import catalogue, workflow_of

LABELS = {"device": "leaf-1", "neighbor": "10.0.11.1", "interface": "Ethernet1/49"}


def bound(step, *others, exits=(), labels=LABELS):
    steps = (step, *others)
    workflow = Workflow(title="x", steps=steps, transitions=exits)
    return {each.step: each for each in BindingProposer(catalogue()).propose(workflow, labels)}[
        step.id
    ]


def act(text, *commands):
    return Step(id="s1", kind=StepKind.PROCESS, text=text, commands=commands)


def test_a_command_of_a_tool_binds_its_step():
    binding = bound(act("Look", "show interface <name>"))
    assert binding.tool == "interface_state"
    assert binding.arguments["interface"].value == "interface"


def test_lines_of_a_configuration_in_one_block_are_one_change():
    binding = bound(act("Take it out", "configure terminal\ninterface <x>\n  shutdown\nend"))
    assert binding.tool == "interface_shut"


def test_a_command_with_more_behind_it_is_another_command():
    assert not bound(act("Look", "show interface Ethernet1/1 | include CRC")).tool
    assert not bound(act("Look", "show version", "reload")).tool


def test_a_command_in_a_sentence_binds_too():
    binding = bound(act("See who touched it: show logging last 50"))
    assert (binding.tool, binding.arguments["count"].value) == ("log", "50")


def test_what_no_tool_says_stays_a_persons():
    assert not bound(act("Ask the data center team to replace the cable")).tool


def test_a_question_is_never_answered_by_a_change():
    question = Step(id="s1", kind=StepKind.DECISION, text="Did clearing the BGP session help?")
    ends = [Step(id=n, kind=StepKind.TERMINAL, text=n) for n in ("a", "b")]
    exits = (
        Transition(source="s1", target="a", condition="Yes"),
        Transition(source="s1", target="b", condition="No"),
    )
    assert not bound(question, *ends, exits=exits).tool


def test_that_all_are_well_is_not_read_as_that_one_is_there():
    question = Step(
        id="s1", kind=StepKind.DECISION, text="Show ip bgp summary: all neighbors Established?"
    )
    ends = [Step(id=n, kind=StepKind.TERMINAL, text=n) for n in ("a", "b")]
    exits = (
        Transition(source="s1", target="a", condition="Yes"),
        Transition(source="s1", target="b", condition="No"),
    )
    assert not bound(question, *ends, exits=exits).answers


def test_an_argument_that_an_earlier_look_tells_is_taken_from_there():
    by_step = {
        each.step: each
        for each in BindingProposer(catalogue()).propose(
            workflow_of("SwitchCpuHigh"), {"device": "leaf-1"}
        )
    }
    restart = next(each for each in by_step.values() if each.tool == "process_restart")
    assert restart.arguments["process"].value == "cpu.process"


@pytest.mark.parametrize(
    ("labels", "name", "source"),
    [
        ({"device": "leaf-1"}, "leaf-1", "named by the ticket's label device"),
        ({"device": "core-9"}, None, "no known switch: its label device is 'core-9'"),
        ({"device": "prometheus"}, None, "no known switch: its label device is 'prometheus'"),
        ({}, None, "no known switch: it has no label device"),
    ],
)
def test_a_target_is_one_of_the_inventory_that_the_ticket_names(labels, name, source):
    with_metrics = catalogue()
    metrics = Target(name="prometheus", kind="metrics", url="http://127.0.0.1:9090")
    with_metrics = Catalogue(tools=with_metrics.tools, targets=(*with_metrics.targets, metrics))
    choice = choose_target(bound(act("Look", "show interface <x>")), with_metrics, labels)
    assert (choice.target.name if choice.target else None) == name
    assert choice.source.endswith(source)


def test_the_only_target_of_its_kind_is_the_inventorys():
    alone = Catalogue(
        tools=catalogue().tools, targets=(Target(name="sw", kind="switch", host="127.0.0.1"),)
    )
    choice = choose_target(bound(act("Look", "show interface <x>")), alone, {})
    assert (choice.target.name, choice.source) == ("sw", "the only switch of the inventory")


PING = {
    "name": "ping_from",
    "description": "Ping a switch from the jump host",
    "effect": "read",
    "target": "jump",
    "label": "jump_host",
    "way": {"by": "ssh", "command": ["ping", "-c3", "{device}"]},
    "parameters": {"device": {"labels": ["device"]}},
}


@pytest.mark.parametrize(
    ("step", "labels", "origin", "why"),
    [
        (act("Ping", "ping -c3 leaf-2"), {"device": "leaf-1"}, Origin.LABEL, "ping_from's"),
        (act("Ping", "ping -c3 leaf-2"), {}, Origin.LITERAL, "the page's, and known"),
        (act("Ping", "ping -c3 evil-9"), {"peer": "evil-9"}, Origin.LITERAL, "and known"),
        (act("Ping", "ping -c3 evil-9"), {}, Origin.PERSON, "'evil-9' is the page's alone"),
        (act("Go (ping_from: device=evil-9)"), LABELS, Origin.PERSON, "is the page's alone"),
        (act("Go (ping_from: device=[log.host])"), LABELS, Origin.PERSON, "what log.host shows"),
    ],
)
def test_an_argument_that_names_a_target_is_no_invention_of_the_page(step, labels, origin, why):
    switches = catalogue()
    tools = (*switches.tools, Tool.model_validate(PING))
    with_ping = Catalogue(tools=tools, targets=switches.targets)
    [binding] = BindingProposer(with_ping).propose(Workflow(title="x", steps=(step,)), labels)
    assert binding.arguments["device"].origin is origin
    assert why in binding.why
