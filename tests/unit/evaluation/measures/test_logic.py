from collections.abc import Sequence

import pytest

from evaluation.material.logic_rows import GoldGraph
from evaluation.measures.figures import Figures
from evaluation.measures.logic import COLUMNS, LogicCase, logic_figures, mean_percent
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.ports import Vectors
from services.workflow.model import StepKind, Workflow
from tests.unit.evaluation.drawings import DOC, chart, cited, drawn

LINES = (
    "A[read fan speeds] --> B{is tray seated?}",
    "B -->|no| C[push tray inwards] --> D[verify temperature]",
    "B -->|yes| E[replace rotor] --> D",
)
GOLD = drawn(*LINES, core="BC")


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(512)
        self.calls: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(texts)
        return super().embed(texts)


def figures(workflow: Workflow | None, gold: GoldGraph = GOLD) -> Figures:
    (row_figures,) = logic_figures([LogicCase(DOC, gold, workflow)], CountingEmbedder())
    return row_figures


def test_the_drawing_itself_scores_full_marks():
    scores = figures(cited(chart(*LINES)))
    assert tuple(scores) == (*COLUMNS, "doubted")
    free = {"loose", "hedged", "loose_or_hedged", "doubted"}
    assert scores == pytest.approx({name: float(name not in free) for name in scores})


def test_of_the_wrong_steps_those_that_are_marked_as_doubtful_are_counted():
    workflow = cited(chart(*LINES))
    strange = [
        step.model_copy(update={"text": "Paint the rack green", "doubt": "Really?"})
        if step.kind is StepKind.PROCESS
        else step
        for step in workflow.steps
    ]
    scores = figures(workflow.model_copy(update={"steps": tuple(strange)}))
    assert 0 < scores["doubted"] < 1
    assert scores["wrong_doubted"] > 0


def test_without_a_workflow_nothing_is_found_and_all_is_loose():
    for nothing in (None, Workflow(title="", steps=())):
        scores = figures(nothing)
        assert {name for name, value in scores.items() if value} == {"loose", "loose_or_hedged"}


def test_swapped_answers_lose_their_guards_and_nothing_else():
    swapped = [line.replace("|no|", "|x|").replace("|yes|", "|no|") for line in LINES]
    scores = figures(cited(chart(*(line.replace("|x|", "|yes|") for line in swapped))))
    assert scores["guards_p"] == scores["guards_r"] == scores["guards"] == 0
    assert scores["profile"] == scores["nodes"] == scores["decisions"] == 1
    assert scores["acceptable"] == scores["loose"] == 0


def test_a_negated_question_with_the_other_answers_says_the_same():
    negated = [line.replace("is tray seated", "is tray not seated") for line in LINES]
    negated = [line.replace("|no|", "|x|").replace("|yes|", "|no|") for line in negated]
    scores = figures(cited(chart(*(line.replace("|x|", "|yes|") for line in negated))))
    assert scores["guards"] == 1


def test_guarded_steps_in_a_plain_row_are_loose():
    scores = figures(
        cited(
            chart(
                "A[read fan speeds] --> C[push tray inwards] --> E[replace rotor]",
                "E --> D[verify temperature]",
            )
        )
    )
    assert scores["loose"] == 1
    assert scores["guards_p"] == scores["guards_r"] == 0
    assert scores["nodes"] == 1
    assert scores["decisions"] == 0
    assert scores["core"] == 0.5
    assert 0 < scores["profile"] < 1


def test_a_condition_in_the_words_of_a_step_hedges_it():
    scores = figures(
        cited(
            chart(
                "A[read fan speeds] --> C[if loose push tray inwards] --> E[replace rotor]",
                "E --> D[verify temperature]",
            )
        )
    )
    assert (scores["loose"], scores["hedged"], scores["loose_or_hedged"]) == (0.5, 0.5, 1)


def test_loose_is_left_out_where_no_guarded_step_is_matched():
    scores = figures(cited(chart("A[read fan speeds] --> D[verify temperature]")))
    assert "loose" not in scores
    assert "hedged" not in scores
    assert scores["nodes"] == pytest.approx(2 * 2 / 6)


def test_a_line_in_common_helps_a_step_to_be_recognised():
    gold = drawn("A[alpha beta gamma delta]")
    near = chart("A[alpha beta other words]")
    assert figures(near, gold)["nodes"] == 0
    assert figures(cited(near), gold)["nodes"] == 1


def test_worded_answers_are_compared_by_meaning():
    def branches(one: str, other: str) -> tuple[str, str]:
        return f"A{{which state?}} -->|{one}| B[mend]", f"A -->|{other}| C[leave]"

    gold = drawn(*branches("link is down", "link is up"))
    assert figures(cited(chart(*branches("Link down.", "link up"))), gold)["guards"] == 1
    assert figures(cited(chart(*branches("yes", "no"))), gold)["guards"] == 0


def test_a_workflow_that_states_no_guard_where_none_is_wanted_is_right():
    straight = "A[read fan speeds] --> D[verify temperature]"
    scores = figures(cited(chart(straight)), drawn(straight))
    assert scores["guards"] == scores["profile"] == scores["decisions"] == scores["acceptable"] == 1


def test_all_texts_of_all_cases_are_embedded_in_one_batch():
    embedder = CountingEmbedder()
    logic_figures([LogicCase(DOC, GOLD, cited(chart(*LINES)))] * 3, embedder)
    (texts,) = embedder.calls
    assert len(texts) == len(set(texts))


def test_means_are_over_the_rows_that_have_a_figure_in_percent():
    rows = [{"found": 1.0, "loose": 0.5}, {"found": 1.0}, {"found": 0.0, "loose": 1.0}]
    assert mean_percent(rows) == {"n": 3, "found": 66.7, "loose": 75.0}
    assert mean_percent([]) == {"n": 0}
