import re

from evaluation.measures.figures import Report
from evaluation.report.contests_report import best_of_n_report, duels_report
from evaluation.report.judge_section import judge_section
from evaluation.report.results_page import results_page

BINS = {
    "10% to 20%": {"n": 90.0, "chance": 0.15, "acceptable": 0.2},
    "90% to 100%": {"n": 10.0, "chance": 0.95, "acceptable": 1.0},
}
JUDGE = Report.model_validate(
    {
        "benchmark": "judge",
        "overall": {"n": 5.0},
        "sets": {},
        "reliability": {"everything": BINS},
        "config": {"pairs": "pages.jsonl"},
        "seconds": 3.0,
    }
)


def test_a_reliability_diagram_stands_beside_its_figures():
    section = judge_section(JUDGE, "results-judge")
    (name,) = section.pictures
    assert f"images/{name}" in section.text()
    assert "10% to 20%" in section.text()


def test_a_bin_is_drawn_where_its_chance_and_what_came_true_are():
    (picture,) = judge_section(JUDGE, "results-judge").pictures.values()
    circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', picture)
    (x1, y1, r1), (x2, y2, r2) = [tuple(map(float, each)) for each in circles]
    assert x1 < x2
    assert y1 > y2
    assert r1 > r2


def test_contests_are_told_on_the_page():
    figures = {"taken": {"n": 2.0, "guards": 50.0}, "pairs": {"all": 60.0, "all, n": 5.0}}
    one = best_of_n_report(figures, {"judge": "none"}, 1.0)
    against = {"old": {"n": 4.0, "right above": 75.0}, "rules": {"n": 12.0, "right above": 100.0}}
    two = duels_report(against, {}, 1.0)
    text = results_page([JUDGE, one, two], "flowxpert bench results a.json").text
    assert "Best of n" in text
    assert "--judge none" in text
    assert two.overall == {"n": 16.0, "right above": 93.8}
