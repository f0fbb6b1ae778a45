"""Traces keep what was called and told, and nothing that the platform had planned or hides."""

from services.contracts.execution import RunOutcome
from services.investigation.summary.cases import Ending, case_of, is_successful
from services.investigation.summary.trace import join_traces, trace_of, without_secrets
from services.simulator.faults import Fault, RepairEffect
from tests.unit.execution.carrying import Carrying
from tests.unit.investigation.summary.seen import bgp_labels, change, look, session, shut, trace

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")


def carried(fault=SHUT, *answers):
    carrying = Carrying()
    run = carrying.start("BgpSessionDown", carrying.break_(fault))
    carrying.go(run)
    carrying.approve(run)
    for each in answers:
        state = carrying.answer(run, each)
        if state.open_approval:
            carrying.approve(run)
    return carrying.store.load(run)


def test_a_run_leaves_its_calls_in_order_with_their_fields():
    run_trace = trace_of(carried())
    assert [c.tool for c in run_trace.calls[:1]] == ["bgp_session"]
    sent = next(c for c in run_trace.calls if c.effect == "change")
    assert (sent.tool, sent.target, sent.verified) == ("bgp_session_enable", "leaf-1", True)
    assert sent.arguments == {"asn": "65001", "neighbor": "10.0.11.1"}
    assert run_trace.calls[0].fields["shut"] == "yes"
    assert run_trace.calls[-1].fields["state"] == "Established"
    assert run_trace.ended is RunOutcome.RECOVERED
    assert [c.at for c in run_trace.calls] == sorted(c.at for c in run_trace.calls)


def test_nothing_of_the_workflow_stands_in_a_trace():
    stored = carried()
    trace_json = trace_of(stored).model_dump_json()
    run = stored.run
    steps = {step.id for step in run.workflow.steps}
    planned = [step.text for step in run.workflow.steps] + ["BgpSessionDown.md", run.workflow_id]
    keys = {key for call in trace_of(stored).calls for key in call.model_dump()}
    assert not keys & {"step", "visit", "purpose", "answer", "lines", "shown", "digest"}
    assert not [text for text in planned if f'"{text}' in trace_json]
    assert not [step for step in steps if f'"{step}"' in trace_json]


def test_a_change_that_did_not_show_and_was_taken_back_says_so():
    fault = Fault("bgp_session_shut", "leaf-1", "10.0.11.1", RepairEffect.NOTHING)
    run_trace = trace_of(carried(fault, "take the changes back"))
    changes = [c for c in run_trace.calls if c.effect == "change"]
    assert [(c.tool, c.verified, c.undone, c.undoes) for c in changes] == [
        ("bgp_session_enable", False, True, False),
        ("bgp_session_shut", False, False, True),
    ]
    assert case_of(run_trace).ending is Ending.IN_VAIN
    assert not is_successful(run_trace)


def test_a_secret_is_hidden_wherever_it_stands():
    secret = "hunter22-of-the-night"
    original = trace(
        "t",
        bgp_labels(1) | {"password": secret},
        look(1, "log", {"line": f"login with {secret}"}, count="20"),
        look(2, "ping", {"api_key": "abcdef123456"}, neighbor=secret, count="5"),
    )
    trace_json = without_secrets(original).model_dump_json()
    assert secret not in trace_json
    assert "abcdef123456" not in trace_json
    assert "10.0.11.1" in trace_json


def test_runs_of_one_ticket_join_by_time_and_end_as_the_last_one():
    looked = RunOutcome.HANDED_OVER
    first = trace("a", bgp_labels(1), session(5, "10.0.11.1"), ended=looked, teacher="")
    second = trace(
        "b",
        bgp_labels(1),
        change(3, "bgp_session_enable", asn="65001", neighbor="10.0.11.1"),
        session(9, "10.0.11.1", state="Established"),
        ticket="a",
        begins_at=100.0,
        teacher="person:ann",
    )
    other = shut(2)
    traces = join_traces([second, other, first])
    assert len(traces) == 2
    both = next(each for each in traces if each.ticket == "a")
    assert [c.at for c in both.calls] == [5, 103, 109]
    assert (both.ended, both.teacher) == (RunOutcome.RECOVERED, "person:ann")
    assert case_of(both).remedy == ("bgp_session_enable",)


def test_what_somebody_did_beside_the_calls_teaches_no_change():
    run_trace = shut(1).model_copy(update={"by_hand": True})
    assert case_of(run_trace).ending is Ending.NOTHING


def test_a_call_that_failed_is_no_look():
    failed = session(1, "10.0.11.1").model_copy(update={"succeeded": False, "fields": {}})
    assert len(case_of(shut(1, failed)).before) == 1
