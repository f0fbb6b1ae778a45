import pytest

from services.contracts.composing import (
    ChangeSeverity,
    ComposeAnswer,
    ComposeRequest,
    Composition,
    CompositionProposal,
    ValueOrigin,
)
from services.contracts.proposals import ProposalOrigin
from services.ingestion.proposals.page import check_page
from services.planner.composing.errors import (
    BadDraftError,
    NeedsModelError,
    NothingToComposeError,
    NotReadyError,
)
from services.workflow.model import Workflow
from tests.unit.planner.composing.catalogue import TOOLS, composer, tool

LINEAR = (
    "Show the state of the BGP session with neighbor 10.0.0.7, then clear the BGP session with "
    "neighbor 10.0.0.7 and set the MTU of interface Ethernet1/1 to 9000."
)


def composed(instruction: str, draft: Composition | None = None, **answers: str) -> Composition:
    replies = tuple(
        ComposeAnswer(question=name.replace("__", "."), answer=text)
        for name, text in answers.items()
    )
    return composer().compose(ComposeRequest(instruction=instruction, draft=draft, answers=replies))


def test_a_linear_instruction_becomes_one_step_a_clause() -> None:
    draft = composed(LINEAR)
    assert [call.component for call in draft.calls] == [
        "show_bgp_session",
        "clear_bgp_session",
        "set_mtu",
    ]
    assert draft.calls[0].parameters["neighbor"].value == "10.0.0.7"
    assert draft.calls[2].parameters["mtu"].value == "9000"
    assert draft.calls[2].parameters["interface"].value == "Ethernet1/1"
    assert not draft.questions
    assert draft.errors == 0


def test_the_nodes_cite_the_lines_of_the_page() -> None:
    draft = composed(LINEAR)
    lines = draft.text.split("\n")
    for node, call in zip(draft.procedure.walk(), draft.calls, strict=True):
        ((first, last),) = node.lines
        assert first == last
        assert call.component in lines[first - 1]


def test_the_bindings_name_tools_and_values() -> None:
    first = composed(LINEAR).bindings[0]
    assert first["tool"] == "show_bgp_session"
    assert first["arguments"] == {"neighbor": {"origin": "given", "value": "10.0.0.7"}}


def test_what_is_missing_is_asked_once_and_taken_from_the_answer() -> None:
    draft = composed("Clear the BGP session.")
    assert [each.id for each in draft.questions] == ["s1.neighbor"]
    again = composed("", draft, s1__neighbor="10.9.9.9")
    assert not again.questions
    assert again.calls[0].parameters["neighbor"].value == "10.9.9.9"
    assert "10.9.9.9" in again.text


def test_an_answer_of_the_wrong_type_is_asked_again_with_the_reason() -> None:
    draft = composed("Set the MTU of interface Ethernet1/1.")
    assert [each.id for each in draft.questions] == ["s1.mtu"]
    again = composed("", draft, s1__mtu="large")
    assert "a whole number" in again.questions[0].text
    too_large = composed("", draft, s1__mtu="99999")
    assert "at most 9216" in too_large.questions[0].text
    assert not composed("", again, s1__mtu="1500").questions


def test_nothing_is_asked_that_the_instruction_holds() -> None:
    draft = composed('Send a message to a channel of the team: channel #noc, text "All is well"')
    assert not draft.questions
    assert draft.calls[0].parameters["text"].value == "All is well"


def test_of_two_components_that_fit_somebody_chooses() -> None:
    twin = tool("reset_bgp_session", "Clear the BGP session with a neighbor", *TOOLS[1].details)
    with_twin = composer(tools=(*TOOLS, twin))
    draft = with_twin.compose(
        ComposeRequest(instruction="Clear BGP session with neighbor 10.0.0.7")
    )
    (question,) = draft.questions
    assert set(question.options) == {"clear_bgp_session", "reset_bgp_session"}
    answer = ComposeAnswer(question=question.id, answer="reset_bgp_session")
    chosen = with_twin.compose(ComposeRequest(draft=draft, answers=(answer,)))
    assert chosen.calls[0].component == "reset_bgp_session"
    assert chosen.calls[0].parameters["neighbor"].value == "10.0.0.7"
    assert not chosen.questions


def test_what_no_component_does_is_a_persons_step() -> None:
    draft = composed("Water the flowers in the lobby.")
    assert draft.calls[0].component == ""
    assert "no component does" in draft.notes[0]


@pytest.mark.parametrize(
    "instruction",
    [
        "If the session is idle, clear the BGP session with neighbor 10.0.0.7.",
        "Clear the BGP session with neighbor 10.0.0.7 if it is idle.",
        "For each neighbor, clear the BGP session.",
        "Clear the BGP session until it is established.",
    ],
)
def test_conditions_and_loops_are_not_lost_but_refused(instruction: str) -> None:
    with pytest.raises(NeedsModelError):
        composed(instruction)


def test_an_empty_instruction_is_refused() -> None:
    with pytest.raises(NothingToComposeError):
        composed("  ")


def test_a_secret_is_in_no_text_and_a_person_fills_it_in() -> None:
    draft = composed("Create a user account on a host: user deploy, password: hunter2!secret9")
    assert "hunter2" not in draft.model_dump_json()
    assert draft.calls[0].parameters["password"].origin is ValueOrigin.PERSON
    assert "<password>" in draft.text
    assert not draft.questions


def test_a_secret_in_an_answer_is_not_kept() -> None:
    draft = composed("Create a user account on a host, user deploy")
    again = composed("", draft, s1__user="deploy", s1__password="hunter2!secret9")
    assert again.calls[0].parameters["password"].origin is ValueOrigin.PERSON
    assert "hunter2" not in again.text


def test_what_destroys_is_told_and_takes_explicit_words() -> None:
    draft = composed("Delete a volume with all its data, volume: db1")
    assert [each.danger for each in draft.changes] == [ChangeSeverity.DESTROYS]
    with pytest.raises(NotReadyError, match="destroy with delete_volume"):
        composer().page(CompositionProposal(draft=draft))
    page = composer().page(CompositionProposal(draft=draft, words=draft.words))
    assert page.origin is ProposalOrigin.COMPOSED


def test_a_draft_cannot_talk_its_danger_away() -> None:
    draft = composed("Delete a volume with all its data, volume: db1")
    tampered = draft.model_copy(update={"changes": (), "words": "", "questions": (), "errors": 0})
    with pytest.raises(NotReadyError, match="destroy with"):
        composer().page(CompositionProposal(draft=tampered))


def test_a_draft_cannot_name_a_component_that_is_not_there() -> None:
    draft = composed(LINEAR)
    call = draft.calls[0].model_copy(update={"component": "format_disk"})
    tampered = draft.model_copy(update={"calls": (call, *draft.calls[1:])})
    with pytest.raises(BadDraftError, match="format_disk"):
        composer().page(CompositionProposal(draft=tampered))


def test_a_value_that_nobody_said_does_not_come_back_with_a_draft() -> None:
    draft = composed(LINEAR)
    wrong = draft.calls[0].parameters["neighbor"].model_copy(update={"value": "192.0.2.1"})
    call = draft.calls[0].model_copy(update={"parameters": {"neighbor": wrong}})
    tampered = draft.model_copy(update={"calls": (call, *draft.calls[1:])})
    page = composer().page(CompositionProposal(draft=tampered))
    assert "192.0.2.1" not in page.text


def test_open_questions_keep_a_draft_from_being_proposed() -> None:
    with pytest.raises(NotReadyError, match="1 questions are open"):
        composer().page(CompositionProposal(draft=composed("Clear the BGP session.")))


def test_the_page_is_one_that_proposals_take() -> None:
    page = composer().page(CompositionProposal(draft=composed(LINEAR)))
    checked = check_page(page)
    assert checked.reading.procedures[0].title == page.title
    assert page.key.startswith("composed:")


def test_the_bindings_steps_are_those_of_the_drawn_workflow() -> None:
    from services.runbook.lowering import lower

    draft = composed(LINEAR)
    workflow: Workflow = lower(draft.procedure, "composed.md")
    by_id = workflow.by_id
    for binding, call in zip(draft.bindings, draft.calls, strict=True):
        assert by_id[binding["step"]].node == call.step
