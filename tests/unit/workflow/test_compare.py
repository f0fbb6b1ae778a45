from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from services.language.answers import compared_answer
from services.workflow.compare import compare
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.model import Workflow

VECTORS = {
    "alpha": (1.0, 0.0, 0.0),
    "beta": (0.0, 1.0, 0.0),
    "gamma": (0.0, 0.0, 1.0),
    "near alpha": (0.8, 0.6, 0.0),
    "nearer alpha": (0.96, 0.28, 0.0),
    "against alpha": (-1.0, 0.0, 0.0),
    "alpha not ready?": (1.0, 0.0, 0.0),
    "up": (0.0, 1.0, 0.0),
    "is up": (0.0, 0.8, 0.6),
    "down": (0.0, 0.0, 1.0),
}


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([VECTORS[text] for text in texts], dtype=np.float32)


def chart(*lines: str) -> Workflow:
    return from_mermaid("\n".join(("flowchart TD", *lines)))


def test_a_workflow_equals_itself() -> None:
    same = chart("A[alpha] --> B[beta] --> C[gamma]")

    result = compare(same, same, embed)

    assert result.step_f1 == result.graph_f1 == pytest.approx(100)
    assert result.recalled == 1
    assert result.accepted


def test_precision_and_recall_are_means_of_best_cosines() -> None:
    result = compare(chart("A[near alpha]"), chart("A[alpha] --> B[gamma]"), embed)

    assert result.step_precision == pytest.approx(80)
    assert result.step_recall == pytest.approx(40)
    assert result.step_f1 == pytest.approx(100 * 2 * 0.8 * 0.4 / 1.2)
    assert result.recalled == 0.5
    assert not result.accepted


def test_a_negative_cosine_counts_as_nothing() -> None:
    result = compare(chart("A[against alpha]"), chart("A[alpha]"), embed)

    assert result.step_f1 == result.graph_f1 == 0


def test_equal_texts_count_once_and_markup_does_not_count() -> None:
    generated = chart('A["`**alpha**`"] --> B["&lt;b&gt;alpha&lt;/b&gt;"] --> C[beta]')

    result = compare(generated, chart("A[alpha]"), embed)

    assert result.step_precision == pytest.approx(50)
    assert result.step_recall == pytest.approx(100)


FORK = ("A{alpha} -->|Yes| B[beta]", "A -->|No| C[gamma]")
THREE_NODES_TWO_EDGES = 10
"""Nodes and edges of both charts together."""


def graph_f1(generated: Workflow, reference: Workflow) -> float:
    return compare(generated, reference, embed).graph_f1


def test_conditions_are_no_part_of_a_step() -> None:
    worded = chart("A{alpha} -->|up| B[beta]", "A -->|down| C[gamma]")

    assert compare(chart(*FORK), worded, embed).step_f1 == pytest.approx(100)


def test_swapped_answers_cost_their_edges() -> None:
    swapped = chart("A{alpha} -->|No| B[beta]", "A -->|Yes| C[gamma]")

    assert graph_f1(chart(*FORK), chart(*FORK)) == pytest.approx(100)
    assert graph_f1(swapped, chart(*FORK)) == pytest.approx(100 * 2 * 3 / THREE_NODES_TWO_EDGES)


def test_yes_to_a_negated_question_is_no_to_the_positive_one() -> None:
    negated = chart("A{alpha not ready?} -->|no| B[beta]", "A -->|yes| C[gamma]")
    as_if_positive = chart("A{alpha not ready?} -->|yes| B[beta]", "A -->|no| C[gamma]")

    assert graph_f1(negated, chart(*FORK)) == pytest.approx(100)
    assert graph_f1(as_if_positive, chart(*FORK)) < 70


def test_an_edge_without_an_answer_agrees_with_any() -> None:
    silent = chart("A{alpha} --> B[beta]", "A --> C[gamma]")

    assert graph_f1(silent, chart(*FORK)) == pytest.approx(100)


def test_worded_answers_agree_by_meaning_and_never_with_yes_and_no() -> None:
    worded = chart("A{alpha} -->|Up| B[beta]", "A -->|down| C[gamma]")
    alike = chart("A{alpha} -->|is up| B[beta]", "A -->|Down.| C[gamma]")
    swapped = chart("A{alpha} -->|down| B[beta]", "A -->|up| C[gamma]")

    assert graph_f1(alike, worded) == pytest.approx(100)
    assert graph_f1(swapped, worded) == pytest.approx(100 * 2 * 3 / THREE_NODES_TWO_EDGES)
    assert graph_f1(chart(*FORK), worded) == pytest.approx(100 * 2 * 3 / THREE_NODES_TWO_EDGES)


def test_two_answers_that_lead_to_one_step_are_one_edge() -> None:
    both = chart("A{alpha} -->|yes| B[beta]", "A -->|no| B")
    one = chart("A{alpha} -->|no| B[beta]")

    assert graph_f1(both, one) == pytest.approx(100)


@pytest.mark.parametrize(
    ("question", "label", "says"),
    [
        ("Is it ready?", "Yes", True),
        ("Is it ready?", "yes, all of them", True),
        ("Is it ready?", "otherwise", False),
        ("Isn't it ready?", "no", True),
        ("Is it unavailable?", "Yes.", False),
        ("Does it not fail?", "yes", True),
        ("Which state?", " Degraded: ", "degraded"),
    ],
)
def test_an_answer_is_read_together_with_its_question(question, label, says) -> None:
    assert compared_answer(question, label) == says


def test_acceptance_needs_its_share_of_recalled_steps() -> None:
    reference = chart("A[alpha] --> B[beta] --> C[gamma] --> D[near alpha]")
    generated = chart("A[alpha] --> B[beta]")

    result = compare(generated, reference, embed)

    assert result.recalled == 0.75
    assert result.accepted
    assert not compare(generated, reference, embed, accepted_share=0.8).accepted
    assert compare(generated, reference, embed, match_cosine=0.9).recalled == 0.5


def test_nodes_are_matched_one_to_one_by_the_best_total() -> None:
    generated = chart("A[nearer alpha] --> B[near alpha]")
    reference = chart("X[alpha]")

    result = compare(generated, reference, embed)

    assert result.graph_f1 == pytest.approx(100 * 2 * 1 / (3 + 1))


def test_an_edge_counts_when_both_its_ends_are_matched() -> None:
    generated = chart("A[alpha] --> B[beta]", "B --> C[near alpha]")
    reference = chart("X[beta] --> Y[alpha]", "X --> Z[gamma]")

    result = compare(generated, reference, embed)

    assert result.graph_f1 == pytest.approx(100 * 2 * 2 / (5 + 5))


def test_an_empty_workflow_scores_nothing() -> None:
    empty = Workflow(title="", steps=())

    for generated, reference in ((empty, chart("A[alpha]")), (chart("A[alpha]"), empty)):
        result = compare(generated, reference, embed)
        assert (result.step_f1, result.graph_f1, result.accepted) == (0, 0, False)
