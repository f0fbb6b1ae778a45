from services.execution.bindings.proposer import BindingProposer, target_of
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


def test_a_device_that_nobody_knows_is_no_target():
    binding = bound(act("Look", "show interface <x>"))
    assert target_of(binding, catalogue(), {"device": "leaf-1"}).name == "leaf-1"
    assert target_of(binding, catalogue(), {"device": "core-9"}) is None
    assert target_of(binding, catalogue(), {}) is None
