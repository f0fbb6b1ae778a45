"""The bench of triage."""

import json

import pytest

from evaluation.benches.triage import NoLabelError, masked, read_cases, run
from services.knowledge.embedding.embedders import HashingEmbedder
from services.tickets.triage.choice import RoutingLimits
from services.tickets.triage.routing.cases import case_of

LIMITS = RoutingLimits(sure_from=0.6, abstain_below=0.3)
PARTS = {"water": ["pump", "valve", "pipe"], "power": ["fuse", "breaker", "cable"]}


def rows(*faults):
    return [
        {"text": f"The {part} {fault}.", "team": team}
        for fault in faults
        for team in PARTS
        for part in PARTS[team]
    ]


def written(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    return read_cases(path, "team")


def test_all_ways_are_measured_over_the_same_rows(tmp_path):
    train = written(tmp_path / "train.jsonl", rows("leaks", "hums", "is hot", "smells"))
    odd = {"text": "The lift is stuck.", "team": "lifts"}
    test = written(tmp_path / "test.jsonl", [*rows("broke"), odd])
    report = run(train, test, HashingEmbedder(), LIMITS, config={})
    assert set(report.sets) == {
        "triage",
        "one round",
        "without graph",
        "without noise reduction",
        "TF-IDF and logistic regression",
    }
    assert {figures["n"] for figures in report.sets.values()} == {7.0}
    assert report.overall["acc1"] == report.sets["triage"]["acc1"] == round(6 / 7, 4)
    assert report.sets["TF-IDF and logistic regression"]["acc1"] == round(6 / 7, 4)
    assert {"acc1", "acc3", "ece", "abstained"} <= report.overall.keys()
    assert 0 < report.overall["ece_by_chance"] < 0.5
    assert report.config["test_of_teams_not_in_train"] == 1


def test_names_are_masked_as_whole_words_the_longest_first():
    cases = [case_of("1", "Redis-cache and redis, not redistribute", "redis", 1.0)]
    (case,) = masked(cases, ["redis", "redis-cache"])
    assert case.text == "<name> and <name>, not redistribute"
    assert "redis" not in case.entities


@pytest.mark.parametrize("row", [{"text": "x"}, {"team": "x"}, {"text": "x", "team": ""}])
def test_a_row_without_text_or_team_is_named(tmp_path, row):
    with pytest.raises(NoLabelError, match="line 1"):
        written(tmp_path / "rows.jsonl", [row])
