"""Commands that targets did not understand are told of their page, and nothing else is."""

import pytest

from services.execution.runs.events import NewEvent, RunEventKind
from services.execution.runs.failures import find_error_line, page_command
from services.simulator.faults import Fault
from tests.unit.execution.carrying import Carrying

PAGE = "BgpSessionDown.md"
FAULT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")


@pytest.fixture
def carrying():
    return Carrying()


def sent(carrying, *lines, kind=RunEventKind.OBSERVED, shown=None, **facts):
    """A run of the page's first step with a command, and what came of it."""
    stored = carrying.store.load(carrying.start("BgpSessionDown", carrying.break_(FAULT)))
    run = stored.run
    step = next(each for each in run.workflow.steps if each.commands)
    payload = {
        "purpose": "look",
        "tool": "t",
        "target": "leaf-1",
        "arguments": {},
        "fields": {},
        "is_cut": False,
        "shown": shown or step.commands[0],
        **facts,
    }
    payload |= {"lines": list(lines)} if kind is RunEventKind.OBSERVED else {}
    carrying.store.record(stored, NewEvent(kind, (step.id, 1), payload), carrying.clock.now())
    return run, step


def test_a_command_that_is_not_understood_is_told_with_its_runs_and_the_answer(carrying):
    first, step = sent(carrying, "% Invalid input detected at '^' marker.")
    second, _ = sent(carrying, "                  ^", "% Invalid input detected at '^' marker.")
    (failure,) = carrying.store.failed_commands(0)
    assert (failure.document_id, failure.command, failure.times) == (PAGE, step.commands[0], 2)
    assert set(failure.runs) == {second.id, first.id}
    assert failure.answer == "% Invalid input detected at '^' marker."
    assert failure.start_line == step.citations[0].start_line


def test_a_target_that_understands_it_later_settles_it(carrying):
    sent(carrying, "% Invalid input")
    sent(carrying, "BGP state = Idle")
    assert carrying.store.failed_commands(0) == []
    sent(carrying, "% Invalid input")
    assert len(carrying.store.failed_commands(0)) == 1


def test_a_target_that_cannot_be_reached_says_nothing_of_the_page(carrying):
    sent(carrying, kind=RunEventKind.NOT_OBSERVED, why="leaf-1 cannot be reached", is_final=False)
    sent(carrying, kind=RunEventKind.NOT_OBSERVED, why="leaf-1 refused to log us in", is_final=True)
    assert carrying.store.failed_commands(0) == []


def test_what_a_tool_says_otherwise_than_the_page_is_the_tools_failure(carrying):
    sent(carrying, "% Invalid input", shown="display bgp peer")
    assert carrying.store.failed_commands(0) == []


def test_older_runs_are_left_out(carrying):
    sent(carrying, "% Invalid input")
    assert carrying.store.failed_commands(carrying.clock.now() + 1) == []


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("netstat -rn", "bash: netstat: command not found"),
        ("netstat -rn", "sh: 1: netstat: not found"),
        ("netstat -rn", "-bash: line 3: netstat: command not found"),
        ("kubectl get psp", 'error: the server doesn\'t have a resource type "psp"'),
        ("kubectl rolling-update x", 'error: unknown command "rolling-update" for "kubectl"'),
        ("kubectl get pods --export", "error: unknown flag: --export"),
        ("show ip bgp foo", "% Ambiguous command: 'show ip b'"),
        ("show bgp", "syntax error, expecting <command>."),
        ("ls --colour", "ls: unrecognized option '--colour'"),
        ("Get-Foo", "The term 'Get-Foo' is not recognized as the name of a cmdlet"),
    ],
)
def test_shells_and_devices_say_that_they_do_not_know_a_command(command, answer):
    assert find_error_line(command, [answer]) == answer


@pytest.mark.parametrize(
    "lines",
    [
        ["NAME READY", "web-0 1/1"],
        ['Error from server (NotFound): pods "web-0" not found'],
        ["default route: not found"],
        ["10:02 app: bash: curl: command not found", *["more of the log"] * 9],
        ["% 3 of 4 links are up"],
        [],
    ],
)
def test_answers_and_logs_are_no_refusal(lines):
    assert find_error_line("kubectl logs web-0", lines) == ""


def test_the_pages_command_is_the_one_that_was_sent_with_its_places_filled():
    commands = ("show version", "kubectl -n <namespace> logs POD_NAME\nkubectl get nodes")
    assert page_command(commands, "kubectl -n shop logs web-0") == (
        "kubectl -n <namespace> logs POD_NAME"
    )
    assert page_command(commands, "kubectl get nodes") == "kubectl get nodes"
    assert page_command(commands, "systemctl status x") == ""
    assert page_command(commands, "  ") == ""


def test_a_comment_is_no_command_of_the_page():
    assert page_command(("# look at the nodes", "date"), "# look at the nodes") == ""
