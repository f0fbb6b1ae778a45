import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.tickets.clarify.branches import Situation, branch_questions, may_change_state
from services.tickets.clarify.dialogue import Dialogue, ticket_with_answers
from services.tickets.ticket.question import (
    AnswerChoice,
    ClarifyingQuestion,
    DecisionAnswer,
    QuestionTopic,
    answered_exits,
)
from services.workflow.model import Step, StepKind, Transition, Workflow
from tests.unit.tickets.clarify.charts import DISK, chart


def first_question(workflow: Workflow = DISK, **fields: object) -> ClarifyingQuestion:
    return branch_questions(workflow, Dialogue.model_validate(fields))[0]


def of_text(text: str) -> ClarifyingQuestion:
    questions = branch_questions(DISK, Dialogue())
    return next(question for question in questions if question.text == text)


def test_each_decision_is_a_question_of_its_own():
    questions = branch_questions(DISK, Dialogue())
    assert {
        (question.text, *(choice.text for choice in question.choices)) for question in questions
    } == {
        ("Is the log partition full?", "Yes", "No"),
        ("Does a snapshot hold deleted blocks?", "Yes", "No"),
        ("Which team owns the volume?", "storage", "database"),
    }


def test_an_answer_settles_the_decision_that_was_asked_and_no_other():
    for question in branch_questions(DISK, Dialogue()):
        for choice in question.choices:
            assert {fact.decision for fact in choice.facts} == set(question.decisions)
            assert len(answered_exits(DISK, choice.facts)) == 1


def test_only_what_holds_is_said_to_the_search():
    yes, no = of_text("Does a snapshot hold deleted blocks?").choices
    assert (yes.says, no.says) == ("Does a snapshot hold deleted blocks?", "")


def test_the_next_question_is_about_what_is_left():
    first = of_text("Is the log partition full?")
    after = Dialogue().with_answer(first, first.choices[1])
    left = {question.text for question in branch_questions(DISK, after)}
    assert left == {"Does a snapshot hold deleted blocks?", "Which team owns the volume?"}


def test_no_question_is_left_when_the_branch_is_settled():
    first = of_text("Is the log partition full?")
    assert branch_questions(DISK, Dialogue().with_answer(first, first.choices[0])) == []


def test_what_the_engineer_does_not_know_is_not_asked_again():
    first = first_question()
    left = branch_questions(DISK, Dialogue().with_answer(first, None))
    assert first.text not in {question.text for question in left}
    assert left


def test_what_was_answered_is_not_asked_where_the_page_says_it_again():
    twice = chart(
        "A{Is the disk busy?} -- Yes --> B[Look at the queue]",
        "A -- No --> C[Look at the cable]",
        "B --> D{Is the disk busy?}",
        "C --> D",
        "D -- Yes --> E[Look at the array]",
        "D -- No --> F([Resolved])",
        "E --> F",
    )
    first = first_question(twice)
    assert branch_questions(twice, Dialogue().with_answer(first, first.choices[0])) == []


def test_nothing_is_asked_where_both_answers_lead_to_the_same_step():
    alike = chart("A{Is the disk busy?} -- Yes --> B[Look]", "A -- No --> B", "B --> C([Resolved])")
    assert branch_questions(alike, Dialogue()) == []


def test_no_question_asks_what_the_ticket_says():
    question = first_question(ticket_text="The log partition is full since noon")
    assert "Is the log partition full?" not in question.decisions


def test_no_question_asks_whether_a_remedy_helped():
    texts = [d for q in branch_questions(DISK, Dialogue()) for d in q.decisions]
    assert "Did that help?" not in texts


def test_the_question_that_spares_more_steps_comes_first():
    forked = chart(
        "A{Which pool is it?} -- thin --> B[Check the pool]",
        "A -- thick --> C[Check the disks]",
        "B --> D{Which cable is it?}",
        "C --> D",
        "D -- red --> E[Look at the cable]",
        "D -- blue --> F[Look at the shelf]",
        "F --> G[Look at the array]",
        "G --> H[Look at the host]",
        "E --> I([Resolved])",
        "H --> I",
    )
    best, other = branch_questions(forked, Dialogue())
    assert (best.text, other.text) == ("Which cable is it?", "Which pool is it?")
    assert best.gain > other.gain > 0


def test_a_straight_workflow_raises_no_question():
    assert branch_questions(chart("A[Look] --> B([Resolved])"), Dialogue()) == []
    assert branch_questions(Workflow(title="", steps=()), Dialogue()) == []


def test_a_loop_is_no_trap():
    looping = chart(
        "A{Is the disk busy?} -- Yes --> B[Wait a minute]",
        "B --> A",
        "A -- No --> C{Is the disk busy?}",
        "C -- Yes --> A",
        "C -- No --> D([Resolved])",
    )
    assert all(question.gain > 0 for question in branch_questions(looping, Dialogue()))
    assert max(Situation(looping, {}).chances.values()) <= 1


@pytest.mark.parametrize(
    ("text", "commands", "expected"),
    [
        ("Restart the host", (), True),
        ("Force delete the pod", (), True),
        ("Check that the logs rotate", (), False),
        ("Run the report", (), True),
        ("Set the context and look", ("kubectl get pods",), False),
    ],
)
def test_what_changes_something_is_told_by_its_verb_and_commands(text, commands, expected):
    step = Step(id="a", kind=StepKind.PROCESS, text=text, commands=commands)
    assert may_change_state(step) is expected


def test_a_fact_is_of_the_step_of_its_node_where_both_name_one():
    one = Step(id="a", kind=StepKind.DECISION, text="Is it full?", node="n1")
    fact = DecisionAnswer(decision="is it FULL", answer="Yes", node="n1")
    assert fact.is_of(one)
    assert not fact.is_of(one.model_copy(update={"node": "n2"}))
    assert fact.is_of(one.model_copy(update={"node": ""}))


def test_an_answer_that_the_workflow_does_not_know_settles_nothing():
    fact = DecisionAnswer(decision="Is the log partition full?", answer="perhaps")
    assert answered_exits(DISK, [fact]) == {}


def test_the_query_keeps_the_ticket_and_adds_what_was_learned():
    draft = TicketDraft(source="t", external_id="1", title="Disk", description="It is slow.")
    ticket = ScreenedTicket(draft)
    question = ClarifyingQuestion(
        text="What is it?",
        choices=(AnswerChoice(text="a", says="thin pool"),),
        about=QuestionTopic.STEPS,
        gain=1,
    )
    dialogue = (
        Dialogue()
        .with_answer(question, question.choices[0])
        .with_answer(question, None, "seen on node 3")
    )
    query = ticket_with_answers(ticket, dialogue)
    assert query.for_person().description == "It is slow.\nthin pool\nseen on node 3"
    assert ticket_with_answers(ticket, Dialogue()) is ticket
    assert dialogue.turns == 2


def test_a_question_about_it_is_not_asked_since_nobody_knows_what_it_is():
    shown = chart(
        "A[Show the pool] --> B{Is it thin?}",
        "B -- Yes --> C[Grow it]",
        "B -- No --> D([Resolved])",
        "C --> D",
    )
    assert branch_questions(shown, Dialogue()) == []


def test_whether_something_done_before_helped_is_no_state():
    helped = chart(
        "A[Seat the tray] --> B{Does seating it not help?}",
        "B -- Yes --> C[Swap it]",
        "B -- No --> D([Resolved])",
        "C --> D",
    )
    assert branch_questions(helped, Dialogue()) == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(list(StepKind)), st.sampled_from(["Look", "Restart it", "Is the link up?"])
    ),
    min_size=1,
    max_size=8,
)
ARROWS = st.lists(
    st.tuples(
        st.integers(0, 7), st.integers(0, 7), st.sampled_from(["Yes", "No", "yes", "", "a fan"])
    ),
    max_size=20,
)


@settings(max_examples=200, deadline=None)
@given(steps=STEPS, arrows=ARROWS)
def test_any_graph_is_asked_about_until_nothing_is_left(steps, arrows):
    workflow = Workflow(
        title="any",
        steps=tuple(Step(id=str(n), kind=k, text=text) for n, (k, text) in enumerate(steps)),
        transitions=tuple(
            Transition(source=str(one % len(steps)), target=str(to % len(steps)), condition=label)
            for one, to, label in arrows
        ),
    )
    dialogue = Dialogue()
    while questions := branch_questions(workflow, dialogue):
        assert dialogue.turns <= len(steps)
        assert len(questions[0].choices) > 1
        dialogue = dialogue.with_answer(questions[0], questions[0].choices[dialogue.turns % 2])
