"""Benchmarks as people and programs call them, on the example documents."""

import json
import shutil
from pathlib import Path

import pytest

from tests.command import flowxpert as called

EXAMPLES = Path(__file__).parents[2] / "examples"
LATENCY_S = 0.3


PAIR = {
    "id": "1",
    "set": "examples",
    "tier": "C",
    "query": "A fan tray of the switch has failed",
    "doc": "wiki/fan-failure.md",
    "reference": {
        "nodes": [{"id": "a", "label": "Check that the fan tray is seated."}],
        "edges": [],
    },
}


@pytest.fixture(scope="module")
def options(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Of every benchmark: a data folder with the examples, and a pair."""
    folder = tmp_path_factory.mktemp("bench")
    pairs = folder / "pairs.jsonl"
    pairs.write_text(json.dumps(PAIR) + "\n")
    shutil.copytree(ingested, folder / "data")
    return ["--data-dir", str(folder / "data"), "--pairs", str(pairs)]


def flowxpert(*arguments: str) -> str:
    done = called(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_walk_takes_as_long_as_the_model_and_a_little_more(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOWXPERT_PLANNER_ASK_MODEL", "always")  # the page has been approved
    out = tmp_path / "out.json"
    arguments = ["--latency", str(LATENCY_S), "--tickets", "2", "--out", str(out)]
    flowxpert("bench", "overhead", *arguments, *options)
    figures = json.loads(out.read_text())["overall"]
    assert figures["scripted_tickets"] == 2
    assert figures["scripted_model_p50_s"] >= 2 * LATENCY_S  # the planner's call and the judge's
    platform_s = figures["scripted_walk_p50_s"] - figures["scripted_model_p50_s"]
    assert platform_s > 0
    assert figures["scripted_platform_p50_ms"] == pytest.approx(1000 * platform_s, abs=2)
    share = platform_s / figures["scripted_model_p50_s"]
    assert figures["scripted_overhead_mean"] == pytest.approx(share, rel=0.1)


def test_planners_are_compared_and_printed_for_programs(options: list[str]) -> None:
    printed = flowxpert("bench", "planners", "--planner", "extractive", "--json", *options)
    report = json.loads(printed)
    assert report["config"]["documents"] > 10
    assert 0 < report["f1"]["extractive"]["mean"] <= 100


def test_the_logic_of_a_page_that_is_given_and_of_a_walk_is_measured(
    options: list[str], tmp_path: Path
) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.json"
    nodes = [{"id": "a", "label": "Check that the fan tray is seated.", "lines": [[1, 40]]}]
    rows.write_text(json.dumps({**PAIR, "reference": {"nodes": nodes, "edges": []}}) + "\n")
    stored = ["--reader", "stored", *options[:2]]
    command = ["bench", "logic", "--pairs", str(rows), "--out", str(out), *stored]
    flowxpert(*command, "--page-given", "--corpus", str(EXAMPLES / "documents"))
    assert json.loads(out.read_text())["overall"]["found"] == 100
    flowxpert(*command)
    walked = json.loads(out.read_text())
    assert walked["walk"]["all rows"]["page_first"] == 100
    flowxpert(*command, "--without-page")
    assert json.loads(out.read_text())["walk"]["all rows"]["page_in_five"] == 0


def test_a_folder_without_documents_is_refused(options: list[str], tmp_path: Path) -> None:
    done = called("bench", "workflows", "--data-dir", str(tmp_path), *options[2:])
    assert done.returncode != 0
    assert "nothing is ingested" in done.stderr
