"""A model draws the graph by calls; what does not hold is told it, and the better way is taken."""

import json

import pytest

from services.contracts.execution import RunOutcome
from services.execution.bindings.binding import Origin
from services.investigation.summary.by_model import MOST_REPAIRS, model_learner, parse_calls
from services.investigation.summary.graph_draft import BadCallError, GraphDraft
from services.investigation.summary.plan import NotLearnedError
from services.investigation.summary.summarise import summarise_traces
from services.llm.chat_model import ModelAnswerError
from services.llm.scripted import ScriptedChatModel
from tests.unit.investigation.summary.seen import TOOLS, bound, hung, questions_of, shut

LOOK = {
    "call": "action",
    "id": "a1",
    "tool": "bgp_session",
    "label": "device",
    "arguments": {"neighbor": "label:neighbor"},
}
ENABLE = {
    "call": "action",
    "id": "a2",
    "tool": "bgp_session_enable",
    "arguments": {"asn": "field:bgp_session.asn", "neighbor": "label:neighbor"},
}
IS_SHUT = {
    "call": "decision",
    "id": "d1",
    "of": "a1",
    "field": "shut",
    "comparison": "is",
    "value": "yes",
}
GOOD = [
    {"call": "start", "to": "a1"},
    LOOK,
    IS_SHUT,
    ENABLE,
    {"call": "end", "id": "ok", "kind": "resolved"},
    {"call": "end", "id": "no", "kind": "hand_over"},
    {"call": "edge", "from": "a1", "to": "d1", "when": ""},
    {"call": "edge", "from": "d1", "to": "a2", "when": "yes"},
    {"call": "edge", "from": "d1", "to": "no", "when": "no"},
    {"call": "edge", "from": "a2", "to": "ok"},
]
TRACES = [shut(1), shut(2), shut(3)]


def reply_with(*calls):
    return json.dumps({"calls": list(calls)})


def drawn(*answers, traces=TRACES):
    model = ScriptedChatModel(list(answers))
    return model, model_learner(model, TOOLS, "Sessions")(traces)


def test_a_graph_that_is_drawn_at_once_is_a_page_with_bindings():
    model, page = drawn(reply_with(*GOOD))
    assert len(model.requests) == 1
    assert page.by_model == "scripted"
    assert questions_of(page) == ["Did somebody shut the neighbor down?"]
    assert bound(page, "bgp_session_enable").arguments["asn"].origin is Origin.FIELD
    assert page.reading.reader == "model"


def test_a_model_is_shown_the_traces_and_no_page():
    model, _ = drawn(reply_with(*GOOD))
    text = model.requests[0].messages[1].content
    assert "bgp_session_enable(asn=65001, neighbor=10.0.11.1) on leaf-1: worked" in text
    assert "ended: recovered" in text
    assert ".md" not in text


def test_missing_links_are_told_and_mended():
    model, page = drawn(reply_with(*GOOD[:-1]), reply_with(GOOD[-1]))
    assert len(model.requests) == 2
    prompt = model.requests[1].messages[-1].content
    assert "a2 has no edge to a node that is there" in prompt
    assert "d1 -yes-> a2" in prompt
    assert bound(page, "bgp_session_enable")


def test_objects_in_mixed_text_are_taken():
    text = "I would begin so:\n" + "\n then ".join(json.dumps(each) for each in GOOD) + "\nDone."
    _, page = drawn(text)
    assert bound(page, "bgp_session_enable")


def test_an_answer_without_calls_is_asked_for_again():
    model, _ = drawn("I am not sure.", reply_with(*GOOD))
    assert "no call was found" in model.requests[1].messages[-1].content


def test_after_five_repairs_it_is_given_up():
    model = ScriptedChatModel(["nothing"])
    with pytest.raises(NotLearnedError, match="drew no graph"):
        model_learner(model, TOOLS, "x")(TRACES)
    assert len(model.requests) == 1 + MOST_REPAIRS


def test_a_graph_that_does_otherwise_on_the_traces_is_told_so():
    wrong = {**IS_SHUT, "value": "no"}
    model, page = drawn(
        reply_with(*[wrong if c is IS_SHUT else c for c in GOOD]), reply_with(IS_SHUT)
    )
    prompt = model.requests[1].messages[-1].content
    assert "carried out on the traces it does otherwise: ticket 1 comes to no change" in prompt
    assert bound(page, "bgp_session_enable")


def test_a_change_in_front_of_which_nothing_is_asked_is_refused():
    straight = [
        GOOD[0],
        LOOK,
        ENABLE,
        GOOD[4],
        {"call": "edge", "from": "a1", "to": "a2"},
        {"call": "edge", "from": "a2", "to": "ok"},
    ]
    with pytest.raises(NotLearnedError, match="nothing is asked in front"):
        drawn(reply_with(*straight))


def test_a_change_that_was_never_seen_to_work_is_refused():
    clear = {**ENABLE, "tool": "bgp_session_clear", "arguments": {"neighbor": "label:neighbor"}}
    with pytest.raises(NotLearnedError, match="never seen to work"):
        drawn(reply_with(*[clear if c is ENABLE else c for c in GOOD]))


def test_a_graph_that_goes_round_is_refused():
    round_ = [*GOOD[:-1], {"call": "edge", "from": "a2", "to": "a1"}]
    with pytest.raises(NotLearnedError, match="comes back to a1"):
        drawn(reply_with(*round_))


@pytest.mark.parametrize(
    "call",
    [
        {"call": "run", "id": "x"},
        {**LOOK, "tool": "rm_rf"},
        {**LOOK, "label": "host"},
        {**LOOK, "arguments": {}},
        {**LOOK, "arguments": {"neighbor": "10.0.11.1"}},
        {**LOOK, "arguments": {"neighbor": "label:nobody"}},
        {**LOOK, "arguments": {"neighbor": "field:bgp_session.nothing"}},
        {**LOOK, "arguments": {"neighbor": "given:; reload"}},
        {**IS_SHUT, "of": "a9"},
        {**IS_SHUT, "field": "mood"},
        {**IS_SHUT, "comparison": "resembles"},
        {**IS_SHUT, "value": None},
        {**IS_SHUT, "value": ["yes"]},
        {"call": "end", "id": "e", "kind": "party"},
        {"call": "edge", "from": "a1", "to": "e", "when": "maybe"},
        {"call": "edge", "from": "a1"},
        {"call": "start", "to": {"a": 1}},
        {},
    ],
)
def test_a_call_that_names_what_is_not_there_is_refused(call):
    drawing = GraphDraft(TOOLS, frozenset({"device", "neighbor"}))
    drawing.apply(LOOK)
    with pytest.raises(BadCallError):
        drawing.apply(call)


@pytest.mark.parametrize("text", ["", "[]", "17", '{"calls": 3}', "{" * 5000, "null"])
def test_nonsense_holds_no_calls(text):
    with pytest.raises(ModelAnswerError):
        parse_calls(text)


def test_of_two_that_do_equally_well_the_rules_are_taken():
    model = ScriptedChatModel([reply_with(*GOOD)])
    summary = summarise_traces(TRACES, TOOLS, "Sessions", model_learner(model, TOOLS, "Sessions"))
    assert summary.learned[0].by_model == ""
    assert model.requests


def in_vain(row):
    return shut(row, reason="maintenance", verified=False, ended=RunOutcome.HANDED_OVER)


def test_a_model_is_taken_where_the_rules_refuse_and_it_is_right_on_all_traces():
    traces = [shut(1), shut(2), in_vain(3), in_vain(4)]
    assert "look alike" in summarise_traces(traces, TOOLS, "Sessions").refused[0]
    by_reason = {**IS_SHUT, "field": "reason", "value": "admin shutdown"}
    model = ScriptedChatModel([reply_with(*[by_reason if c is IS_SHUT else c for c in GOOD])])
    summary = summarise_traces(traces, TOOLS, "Sessions", model_learner(model, TOOLS, "Sessions"))
    assert summary.learned[0].by_model == "scripted"
    assert questions_of(summary.learned[0]) == ["Is the reason of the last reset admin shutdown?"]
    assert summary.workflows[0].replayed == 4


def test_a_model_that_says_nothing_changes_nothing():
    traces = [shut(1), shut(2), hung(3)]
    model = ScriptedChatModel(["nothing at all"])
    both = summarise_traces(traces, TOOLS, "Sessions", model_learner(model, TOOLS, "Sessions"))
    assert both == summarise_traces(traces, TOOLS, "Sessions")
