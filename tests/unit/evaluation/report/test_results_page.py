import re

import pytest
from typer.testing import CliRunner

from evaluation.commands import app
from evaluation.measures.figures import Report
from evaluation.report.comparison_report import report as compared
from evaluation.report.results_page import results_page
from tests.unit.evaluation.contests import (
    PAIRS,
    RIGHT,
    UNREADABLE,
    WRONG,
    comparison,
    outline,
    writing,
)


@pytest.fixture(scope="module")
def planners() -> Report:
    contest = comparison(writing(UNREADABLE, outline(WRONG), outline(RIGHT)))
    names = ("extractive", "llm", "best-of-n", "no-scorer")
    config = {"pairs": "pairs.jsonl", "sample": 2, "seed": 0, "model": "tiny"}
    return compared([contest.entry(n, PAIRS, lambda: None) for n in names], config, 1.0, seed=0)


def speed() -> Report:
    return Report(
        benchmark="speed",
        overall={"start_s": 4.5},
        sets={},
        config={"rate": 50.0, "cores": 2, "targets": {"start_s": 8.0}},
        seconds=90,
    )


def test_the_page_names_its_command_and_those_of_the_benchmarks(planners):
    text = results_page([planners, speed()], "flowxpert bench results a.json").text
    assert "```\nflowxpert bench results a.json\n```" in text
    assert "`flowxpert bench planners --data-dir DATA --pairs pairs.jsonl --sample 2" in text
    assert "model tiny" in text
    assert "`flowxpert bench speed --data-dir DATA --rate 50.0` in 90 s; cores 2." in text


def test_every_picture_that_is_shown_is_there_and_none_besides(planners):
    page = results_page([planners, speed(), planners], "x")
    shown = re.findall(r"\]\(images/([^)]+)\)", page.text)
    assert sorted(shown) == sorted(page.pictures)
    assert len(shown) == len(set(shown)) == 4


def test_every_planner_has_a_row_with_its_interval(planners):
    text = results_page([planners], "x").text
    for name in planners.overall:
        assert re.search(rf"\| {name} \| .* \| [\d.]+ \([\d.]+ to [\d.]+\) \|", text)


def test_the_verdict_says_what_was_gained_and_how_often_the_floor_was_displaced(planners):
    text = results_page([planners], "x").text
    gain = f"{planners.model_dump()['f1']['best-of-n']['apart']:+.1f}".replace("-", "−")
    assert f"best-of-N gains {gain}" in text
    assert "(wanted: at most 10%)" in text


def test_a_comparison_without_best_of_n_has_no_verdict():
    contest = comparison(writing(outline(WRONG)))
    alone = compared([contest.entry("llm", PAIRS, lambda: None)], {}, 1.0, seed=0)
    text = results_page([alone], "x").text
    assert "| llm | the model alone" in text
    assert "best-of-N gains" not in text
    assert text.count("![") == 1


def test_notes_come_before_the_figures(planners):
    text = results_page([planners], "x", "Small models need schemas.").text
    assert text.index("Small models need schemas.") < text.index("## Planners compared")
    assert "What is learned" not in results_page([planners], "x").text


def test_the_command_writes_the_page_with_its_pictures_beside_it(planners, tmp_path):
    figures, out = tmp_path / "planners.json", tmp_path / "docs" / "results.md"
    planners.write(figures)
    done = CliRunner().invoke(app, ["results", str(figures), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert f"--out {out}" in out.read_text()
    names = {path.name for path in (out.parent / "images").iterdir()}
    assert names == {"results-planners-f1.svg", "results-planners-apart.svg"}


def test_the_page_opens_with_what_a_stranger_asks_first():
    model = Report.model_validate(
        {
            "benchmark": "logic",
            "overall": {"guards": 30.0, "acceptable": 10.0},
            "sets": {},
            "config": {"reader": "recorded", "given": "page", "page": "there"},
            "seconds": 1.0,
            "rows": [{"guards": 0.2, "acceptable": 0.0}, {"guards": 0.4, "acceptable": 1.0}],
            "conditions": {
                "recorded, all": {"wrong": 8, "wrong marked": 0.75, "right marked": 0.25},
                "recorded, at random": {"wrong marked": 0.5, "right marked": 0.5},
            },
        }
    )
    text = results_page([model], "made").text
    table = text[: text.index("<!--")]
    assert (
        "| guards right, a strong model's recorded reading | 30 % | a second person 72 % | 2 |"
        in table
    )
    assert "| 75 % | of the right ones 25 %; at random 50 % of both | 8 |" in table
    assert "right page first" not in table, "what was not measured has no row"
    assert "In ten rows" not in results_page([], "made").text
