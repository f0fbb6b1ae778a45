import pytest

from evaluation.benches.scoring.best_of_n import Contender, figures_of
from services.workflow.model import Provenance, Workflow


def contender(planner: str, rank: int, guards: float) -> Contender:
    workflow = Workflow(title="", steps=(), provenance=Provenance(planner=planner))
    return Contender(workflow, rank, {"guards": guards, "profile": guards, "acceptable": 0.0})


CONTEST = [contender("llm", 0, 0.5), contender("llm", 1, 0.9), contender("extractive", 2, 0.2)]


def test_what_is_taken_stands_beside_what_there_is():
    figures = figures_of([CONTEST])
    assert figures["taken"]["guards"] == 50
    assert figures["best"]["guards"] == 90
    assert figures["read"]["guards"] == 20
    assert figures["samples"]["guards"] == 70


def test_pairs_whose_guards_are_apart_are_counted():
    pairs = figures_of([CONTEST])["pairs"]
    assert pairs["all"] == pytest.approx(66.7)
    assert pairs["read and sample"] == 100
    assert pairs["two samples"] == 0


def test_pairs_that_are_as_good_as_each_other_are_not():
    equal = [contender("llm", 0, 0.5), contender("llm", 1, 0.52)]
    assert "all" not in figures_of([equal])["pairs"]
