import pytest

from services.tickets.clarify.decision_question import page_clause, question_text
from services.workflow.model import Citation, Step, StepKind

PAGE = "halls/Boiler.md"
TEXT = """# Boiler

- If the **valves** keeps leaking, close the main valve.
1. If no spare nozzle exists, order one.

Check whether the seat of the valve is worn. If it is, replace it.
If you are comfortable with a cold hall, drain the boiler.
Unless the bypass has not been opened, wait.

```
the valves keeps leaking
```

| When | Do |
|---|---|
| the **grate** keeps glowing | wait |
"""


def step(text: str, start: int, end: int | None = None) -> Step:
    cited = Citation(document_id=PAGE, start_line=start, end_line=end or start)
    return Step(id="a", kind=StepKind.DECISION, text=text, citations=(cited,))


def question_at(text: str, line: int, answers: tuple[str, ...] = ("Yes", "No")) -> str:
    return question_text(step(text, line), answers, {PAGE: TEXT})


def test_a_question_in_good_order_is_asked_as_it_is():
    assert question_at("is the seat of the valve worn?", 6) == "Is the seat of the valve worn?"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("Does the valves keep leaking?", 3, "Is this so: “the valves keeps leaking”?"),
        ("Does no spare nozzle exist?", 4, "Is this so: “no spare nozzle exists”?"),
        (
            "Has the bypass not been opened?",
            8,
            "Is this so: “the bypass has not been opened”?",
        ),
    ],
)
def test_what_asks_badly_is_asked_in_the_pages_own_words(text, line, expected):
    assert question_at(text, line) == expected
    clause = expected.partition("“")[2].partition("”")[0]
    assert clause in TEXT.replace("*", "")


def test_a_cell_is_quoted_by_itself_and_code_is_not_quoted():
    cell = page_clause(step("Does the grate keep glowing?", 16), {PAGE: TEXT})
    assert cell == "the grate keeps glowing"
    assert page_clause(step("Does the valves keep leaking?", 11), {PAGE: TEXT}) == ""


def test_the_opposite_of_what_is_asked_is_never_quoted():
    assert question_at("Does it not keep leaking?", 3) == ""
    assert page_clause(step("Is the bypass been opened?", 8), {PAGE: TEXT}) == ""


def test_what_a_person_decides_is_not_asked_in_any_words():
    assert question_at("Are you comfortable with a cold hall?", 7) == ""
    assert question_at("Is this the case: you are comfortable with a cold hall?", 7) == ""


def test_no_question_is_made_without_a_clause_that_stands_alone():
    assert question_at("Is it worn?", 6) == ""
    assert question_text(step("Does the valves keep leaking?", 3), ("Yes", "No"), {}) == ""


def test_the_case_of_a_heading_is_asked_by_its_name():
    assert (
        question_at("Is the problem: Burner went out?", 1)
        == "Is this the problem: “Burner went out”?"
    )
    assert question_at("Is the problem: Other?", 1) == ""


@pytest.mark.parametrize(
    ("text", "answers", "is_question"),
    [
        ("Which hall is it?", ("north", "south"), True),
        ("Which hall is it?", ("north", "none of these"), False),
        ("Which of these ways is to be taken?", ("north", "south"), False),
        ("Is the hall cold?", ("north", "south"), False),
        (
            "Which hall is it?",
            ("north", "Close the main valve and then wait for the foreman" * 2),
            False,
        ),
        ("Which hall is it?", tuple(f"hall {n}" for n in range(9)), False),
    ],
)
def test_a_list_is_asked_only_where_its_choices_are_values_of_one_thing(text, answers, is_question):
    assert bool(question_at(text, 1, answers)) is is_question
