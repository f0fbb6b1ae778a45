"""The bench of summaries: what it counts, and that what was learned from few does no harm."""

import pytest

from evaluation.benches.answered_by_file import FileChatModel
from evaluation.benches.summarising import (
    MIXED,
    Bench,
    Case,
    FreshRun,
    TrainingSet,
    direct_network,
    report_of,
    summarise_faults,
)
from services.investigation.summary.trace import Trace
from services.llm.chat_model import ChatRequest, Message, ModelUnavailableError


@pytest.fixture(scope="module")
def bench():
    return Bench(direct_network(), lambda _line: None)


def test_traces_of_the_solver_have_detours_and_the_right_change(bench):
    traces = bench.traces("bgp_session_shut", 5)
    for each in traces:
        assert [c.tool for c in each.calls if c.effect == "change"] == ["bgp_session_enable"]
    assert len({c.tool for each in traces for c in each.calls}) > 3
    assert {each.ended.value for each in traces} == {"recovered", "handed_over"}
    assert Trace.model_validate_json(traces[0].model_dump_json()) == traces[0]


def test_a_workflow_of_five_traces_is_right_on_fresh_faults_and_harms_no_other(bench):
    cases = summarise_faults(bench, counts=[5], kinds=["bgp_session_shut"])
    assert [case.is_right for case in cases] == [True, True]
    situations = [test.situation for test in cases[0].tests]
    assert situations.count("nothing wrong") == 1
    assert sum(each.startswith("another fault") for each in situations) == 3
    assert not any(test.wrong_changes for case in cases for test in case.tests)


def test_a_wrong_change_is_seen_by_the_devices_own_log(bench):
    """The page of one fault, with its questions answered for another one."""
    traces = bench.traces("bgp_session_hung", 2, seed=3)
    blind = [
        each.model_copy(
            update={
                "calls": tuple(
                    c.model_copy(
                        update={"fields": {k: v for k, v in c.fields.items() if k == "state"}}
                    )
                    for c in each.calls
                )
            }
        )
        for each in traces
    ]  # without what tells a session that hangs from one that was shut
    case = bench.case(TrainingSet("blind", ("bgp_session_hung",), blind, "all", 2))
    foreign = next(t for t in case.tests if t.situation.endswith("bgp_session_shut"))
    assert foreign.wrong_changes
    assert not foreign.is_right


def test_what_was_refused_counts_as_not_right():
    test = FreshRun(
        situation="x", outcome="recovered", is_right=True, is_complete=True, wrong_changes=()
    )
    shared = {"traces": 5, "kept": "all", "replayed": 5, "steps": 8, "decisions": 2}
    learned = Case(name="a", is_valid=True, tests=(test,) * 6, **shared)
    refused = Case(name="b", is_valid=False, tests=(), refused="why", missed=6, **shared)
    figures = report_of([learned, refused]).figures["5 traces, all"]
    assert figures["test rate"] == 0.5
    assert figures["case rate"] == 0.5
    assert figures["graph valid"] == 1
    assert figures["refused"] == 1


def test_alerts_with_several_faults_are_learned_from_together():
    assert all(len(kinds) > 1 for kinds in MIXED.values())


def test_a_prompt_is_a_file_and_its_answer_is_read(tmp_path):
    request = ChatRequest(messages=(Message(role="user", content="Draw the graph."),))
    model = FileChatModel(tmp_path, waits_s=0)
    with pytest.raises(ModelUnavailableError):
        model.complete(request)
    prompt = next(tmp_path.glob("*.prompt.md"))
    assert "Draw the graph." in prompt.read_text()
    prompt.with_name(prompt.name.replace("prompt", "answer")).write_text("{}")
    assert model.complete(request).samples[0].text == "{}"
