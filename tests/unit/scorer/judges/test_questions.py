from services.runbook.evidence.fact import FactKind, ScoredFact
from services.scorer.judges.question import OptionKind
from services.scorer.judges.questions import rank_questions
from tests.unit.scorer.fan_page import BLOW, LOOSE, PUSH, READ, RIGHT, VERIFY, drawn, step
from tests.unit.scorer.judging import questions_about, request, service

FREED = drawn((READ, PUSH, BLOW, VERIFY), ("a", "b"), ("b", "c"), ("c", "d"))
SWAPPED = drawn(
    RIGHT.steps,
    ("a", "q"),
    ("q", "b", "No"),
    ("q", "c", "Yes"),
    ("b", "c"),
    ("c", "d"),
)


def of(raised, words):
    return [question for question in raised if words in question.text]


def options(question):
    return [option.text for option in question.options]


def claimed(question):
    return {claim.candidate: question.options[claim.option].text for claim in question.claims}


def questions_with_chance(chance, *workflows):
    cases = service().cases(request(*workflows))
    return rank_questions(
        [(case.drawn, [ScoredFact(each.fact, chance) for each in case.decided]) for case in cases],
        limit=100,
    )


def test_the_same_question_is_asked_once_for_all_candidates():
    (pushed,) = of(questions_about(RIGHT, SWAPPED, FREED), "when is this done: “Push")
    assert claimed(pushed) == {
        0: "only if “Is the tray loose?” is answered “yes”",
        1: "only if “Is the tray loose?” is answered “no”",
        2: "whatever “Is the tray loose?” is answered",
    }
    assert options(pushed)[-1] == "the lines do not say it"


def test_what_the_lines_decide_for_all_alike_raises_no_question():
    assert questions_about(RIGHT)
    assert questions_with_chance(0.95, RIGHT) == []


def test_what_candidates_say_differently_is_asked_though_the_lines_have_decided():
    raised = questions_with_chance(0.95, RIGHT, FREED)
    assert of(raised, "when is this done: “Push")
    assert not of(raised, "when is this done: “Blow")


def test_what_people_have_approved_raises_no_question():
    cases = service().cases(request(RIGHT))
    decided = [each.with_chance(0.5, "approved") for each in cases[0].decided]
    assert rank_questions([(cases[0].drawn, decided)], limit=100) == []


def test_a_negated_question_is_the_same_with_the_answers_turned_round():
    negated = LOOSE.model_copy(update={"text": "Is the tray not loose?"})
    turned = drawn(
        (READ, negated, PUSH, BLOW, VERIFY),
        ("a", "q"),
        ("q", "b", "No"),
        ("q", "c", "Yes"),
        ("b", "c"),
        ("c", "d"),
    )
    (pushed,) = of(questions_about(RIGHT, turned), "when is this done: “Push")
    assert set(claimed(pushed).values()) == {"only if “Is the tray loose?” is answered “yes”"}
    (first,) = of(questions_about(turned), "when is this done: “Push")
    assert set(claimed(first).values()) == {"only if “Is the tray not loose?” is answered “no”"}


def test_an_arrow_is_asked_with_the_pages_next_step_and_the_end():
    short = drawn((READ, VERIFY, BLOW), ("a", "d"))
    (after,) = of(questions_about(short), "what comes next when this is done: “Look")
    assert [o.kind for o in after.options] == [
        OptionKind.NEXT,
        OptionKind.NEXT,
        OptionKind.ENDS,
        OptionKind.UNSAID,
    ]
    assert options(after)[:2] == [f"“{VERIFY.text}”", f"“{BLOW.text}”"]


def test_where_one_ends_and_another_goes_on_both_answers_are_offered():
    ended = drawn((READ, BLOW), ("a", "c"))
    (after,) = of(questions_about(RIGHT, ended), "comes next when this is done: “Blow")
    assert claimed(after) == {0: f"“{VERIFY.text}”", 1: "nothing: the work ends here"}


def test_steps_of_the_same_words_are_one_option():
    again = BLOW.model_copy(update={"id": "e"})
    twice = drawn((READ, BLOW, again), ("a", "c"), ("a", "e"))
    (after,) = of(questions_about(twice), "comes next when this is done: “Look")
    assert len(set(options(after))) == len(options(after))
    assert len(after.claims) == 2
    assert set(claimed(after).values()) == {f"“{BLOW.text}”"}


def test_a_question_that_no_line_asks_is_not_asked_about():
    implied = step("x", "Did that help?", 0, LOOSE.kind)
    workflow = drawn((READ, implied, BLOW), ("a", "x"), ("x", "c", "No"))
    raised = questions_about(workflow)
    assert not of(raised, "Did that help?")
    assert not any("Did that help?" in text for question in raised for text in options(question))


def test_most_hangs_on_what_is_disputed_and_has_most_behind_it():
    raised = questions_about(RIGHT, RIGHT, FREED)
    disputed = {question.text for question in raised if len({*claimed(question).values()}) > 1}
    assert {question.text for question in raised[: len(disputed)]} == disputed


def test_no_more_than_the_limit_are_raised():
    assert questions_about(RIGHT, SWAPPED, limit=3) == questions_about(RIGHT, SWAPPED)[:3]


def test_the_lines_stand_under_their_heading_with_the_numbers_of_the_page():
    (pushed,) = of(questions_about(RIGHT), "when is this done: “Push")
    shown = pushed.lines.splitlines()
    assert shown[0] == "1 | # Fan stands still"
    assert "4 | 2. If the tray is loose, push the tray in until its latch clicks." in shown


def test_every_kind_of_fact_can_be_questioned():
    kinds = {claim.fact.kind for q in questions_about(RIGHT, FREED) for claim in q.claims}
    assert kinds == set(FactKind)
