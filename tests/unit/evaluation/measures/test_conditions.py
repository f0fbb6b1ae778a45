import pytest

from evaluation.material.pairs import is_fitted
from evaluation.measures.conditions import ConditionExample, Truth
from evaluation.measures.logic import Likeness, LogicCase, Matched
from evaluation.measures.marked import marked_figures
from services.kit.fits.trees import Forest, Tree
from services.knowledge.embedding.embedders import HashingEmbedder
from services.runbook.evidence.conditions import ConditionForests
from services.runbook.evidence.fact import Fact, FactKind
from tests.unit.evaluation.drawings import DOC, chart, cited, drawn

LINES = (
    "A[read fan speeds] --> B{is tray seated?}",
    "B -->|no| C[push tray inwards] --> D[verify temperature]",
    "B -->|yes| E[replace rotor] --> D",
)


def truth(*lines: str) -> Truth:
    """Of a workflow held against the drawing."""
    case = LogicCase(DOC, drawn(*LINES), cited(chart(*lines)))
    assert case.prediction is not None
    likeness = Likeness.of(case.texts(), HashingEmbedder(512))
    return Truth(Matched(case.gold, case.prediction, likeness))


@pytest.mark.parametrize(
    ("fact", "is_right"),
    [
        (Fact(FactKind.QUESTION, "B"), True),
        (Fact(FactKind.GUARD, "C", "B", "no"), True),
        (Fact(FactKind.GUARD, "C", "B", "yes"), False),
        (Fact(FactKind.GUARD, "D", "B", "no"), False),
        (Fact(FactKind.FREE, "D"), True),
        (Fact(FactKind.FREE, "C"), False),
        (Fact(FactKind.ARROW, "B", "C", "no"), True),
        (Fact(FactKind.ARROW, "B", "E", "no"), False),
        (Fact(FactKind.ARROW, "C", "D"), True),
        (Fact(FactKind.ARROW, "A", "D"), False),
        (Fact(FactKind.END, "D"), True),
        (Fact(FactKind.END, "C"), False),
    ],
)
def test_a_fact_is_right_where_the_drawing_has_it(fact, is_right):
    assert truth(*LINES).holds(fact) is is_right


def test_nothing_is_right_of_a_step_that_the_drawing_lacks():
    strange = truth(
        "A[read fan speeds] --> B{is tray seated?}", "B -->|no| X[paint the rack green]"
    )
    facts = (Fact(FactKind.FREE, "X"), Fact(FactKind.GUARD, "X", "B", "no"))
    assert not any(map(strange.holds, facts))


def test_an_arrow_over_a_step_that_only_the_drawing_has_is_right():
    shorter = truth("A[read fan speeds] --> B{is tray seated?}", "B -->|no| D[verify temperature]")
    assert shorter.holds(Fact(FactKind.ARROW, "B", "D", "no"))


def examples(sign: str, *rows: tuple[str, float, bool]) -> list[ConditionExample]:
    return [
        ConditionExample(row, "rules", FactKind.GUARD, {sign: value}, is_right)
        for row, value, is_right in rows
    ]


def test_marks_are_worth_what_they_tell_apart_and_random_ones_nothing():
    tree = Tree(
        sign=[0, -1, -1],
        below=[0.5, -3.0, 3.0],
        left=[1, 0, 0],
        right=[2, 0, 0],
        missing_left=[1, 0, 0],
    )
    fitted = ConditionForests(
        forests={FactKind.GUARD: Forest(signs=["said"], start=0.0, trees=[tree])},
        bars={FactKind.GUARD: 0.5},
    )
    rows = examples(
        "said",
        *((f"page-{n}.md", 1.0, True) for n in range(9)),
        *((f"page-{n}.md", 0.0, False) for n in range(8)),
        ("page-9.md", 0.0, True),
    )
    figures = marked_figures(rows, fitted)
    guards = figures["rules, guard"]
    assert (guards["wrong marked"], guards["right marked"]) == (1.0, 0.1)
    assert guards["auc"] > 0.9
    assert guards["from"] <= guards["wrong at 30 %"] <= guards["to"]
    at_random = figures["rules, at random"]
    assert at_random["wrong marked"] == at_random["right marked"] == 0.5
    assert all(each.is_fitted == is_fitted(each.row) for each in rows)
