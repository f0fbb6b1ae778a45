import pytest

from evaluation.benches.planning.comparison import Entry
from evaluation.benches.planning.shared_plans import Cost
from evaluation.material.metered import Spent
from evaluation.measures.answer_figures import Row
from evaluation.report.comparison_report import report
from tests.unit.evaluation.contests import (
    PAIRS,
    RIGHT,
    UNREADABLE,
    WRONG,
    comparison,
    outline,
    writing,
)
from tests.unit.evaluation.walks import pair


def entry(name, f1, author="llm", **more):
    """A planner with these F1, one pair each, in one set."""
    rows = [
        Row(
            pair=pair("fan.md", id=str(n)),
            form="symptom",
            figures={"f1": value, "recall": value + 1, "graph_f1": value - 1, "answered": 1.0},
            baselines={},
            diagnosis={"best_candidate_f1": 90.0},
            author=author if isinstance(author, str) else author[n],
        )
        for n, value in enumerate(f1)
    ]
    return Entry(name, rows, **more)


FLOOR = entry("extractive", [50, 60, 70, 80, 0], ["extractive"] * 4 + [""])


def figures_of(*entries):
    return report(entries, {"model": "m"}, 1.0, seed=0).model_dump()


def test_every_planner_has_its_mean_between_the_ends_of_its_interval():
    figures = figures_of(FLOOR)
    interval = figures["f1"]["extractive"]
    assert (interval["n"], interval["mean"], figures["recall"]["extractive"]["mean"]) == (5, 52, 53)
    assert interval["mean_low"] < 52 < interval["mean_high"]


def test_the_difference_is_taken_pair_by_pair():
    figures = figures_of(FLOOR, entry("llm", [52, 62, 72, 82, 2]))
    difference = figures["f1"]["llm"]
    assert (difference["apart_low"], difference["apart"], difference["apart_high"]) == (2, 2, 2)
    assert "apart" not in figures["f1"]["extractive"]


def test_shares_tell_how_often_a_planner_is_above_and_below_the_extractive_one():
    shares = figures_of(FLOOR, entry("llm", [51, 61, 69, 80, 0]))["shares"]
    assert shares["llm"]["f1_above_extractive"] == 0.4
    assert shares["llm"]["f1_below_extractive"] == 0.2
    assert shares["extractive"] == {"answered": 1}


def test_displacement_tells_better_from_worse_and_from_filled():
    authors = ["llm", "llm", "extractive", "llm", "llm"]
    best = figures_of(FLOOR, entry("best-of-n", [55, 40, 70, 80, 30], authors))["displacement"]
    assert best == {
        "best-of-n": {
            "answers": 5,
            "displaced": 0.6,
            "by_a_better_one": 0.2,
            "by_a_worse_one": 0.2,
            "filled": 0.2,
            "best_candidate_f1": 90,
        }
    }


def test_a_planner_without_the_floor_displaces_nothing():
    assert figures_of(FLOOR, entry("zero-shot", [1, 1, 1, 1, 1]))["displacement"] == {}


def test_without_the_extractive_planner_there_is_nothing_to_compare_with():
    alone = figures_of(entry("llm", [1, 2, 3, 4, 5]))
    assert "apart" not in alone["f1"]["llm"]
    assert alone["displacement"] == {}


def test_costs_are_means_per_ticket_and_samples_count_once():
    cost = Cost(Spent(2, 0, 100, 50, 3.0), {"accepted": 2, "unreadable": 1})
    judged = Spent(5, 1, 500, 0, 10.0)
    made = {"costs": [cost] * 5}
    both = figures_of(
        entry("llm", [1, 2, 3, 4, 5], **made),
        entry("best-of-n", [1, 2, 3, 4, 5], scoring=judged, **made),
    )
    assert both["cost_per_ticket"]["best-of-n"] == {
        "calls": 3,
        "tokens_in": 200,
        "tokens_out": 50,
        "model_seconds": 5,
        "of_it_scoring": 2,
        "failed_calls": 1,
    }
    assert both["cost_per_ticket"]["llm"]["model_seconds"] == 3
    assert both["samples"]["shown both"] == pytest.approx(
        {"samples": 15, "accepted": 2 / 3, "unreadable": 1 / 3}
    )


def test_sets_are_rows_and_planners_are_columns():
    sets = figures_of(FLOOR, entry("llm", [1, 2, 3, 4, 5]))["sets"]
    assert sets == {"switches/A": {"n": 5, "extractive": 52, "llm": 3}}


def test_a_real_comparison_can_be_reported():
    contest = comparison(writing(UNREADABLE, outline(WRONG), outline(RIGHT)))
    names = ("extractive", "llm", "best-of-n")
    whole = report([contest.entry(n, PAIRS, lambda: None) for n in names], {}, 1.0, seed=0)
    assert set(whole.overall) == set(names)
    assert whole.model_dump()["samples"]["shown both"]["unreadable"] == pytest.approx(1 / 3)
    titles = [table.title for table in whole.tables()]
    assert titles[:4] == ["planners", "f1", "recall", "graph f1"]
