import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.benches.scoring.judge import JudgeBench, Neighbours
from evaluation.benches.scoring.judge_candidates import one_guard_wrong, reference_of
from evaluation.benches.scoring.judge_setup import Judging
from evaluation.material.gold_pages import own_page
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_contexts import PageContexts
from evaluation.measures.harm import guard_harm
from evaluation.measures.telling_apart import Judgement
from evaluation.perturbations.kinds import Perturbation
from evaluation.report.judge_report import clearly_worse, pairs, report, summary
from services.contracts.scorer import (
    DIMENSIONS,
    Dimension,
    Score,
    ScoredCandidate,
    ScoreRequest,
    ScoreResponse,
)
from services.knowledge.embedding.embedders import HashingEmbedder
from services.scorer.service import ScorerService
from services.workflow.lint import is_clean, lint
from services.workflow.model import Citation, Workflow

EMBEDDER = HashingEmbedder()
TRAY = (
    "# Fan tray fails\n\n1. Read the fan speeds.\n2. If the tray is loose, push the tray in.\n"
    "3. If the filter is dusty, clean the filter.\n4. Read the fan speeds again.\n"
)
NODES = (
    ("a", "process", "Read the fan speeds", 3),
    ("b", "decision", "Is the tray loose?", 4),
    ("c", "process", "Push the tray in", 4),
    ("d", "decision", "Is the filter dusty?", 5),
    ("e", "process", "Clean the filter", 5),
    ("f", "process", "Read the fan speeds again", 6),
    ("g", "terminal", "Resolved", 0),
)
EDGES = ("ab", "bcYes", "bdNo", "cf", "deYes", "dfNo", "ef", "fg")


def row(name: str, set_: str = "switches", *, what: str = "fan") -> LogicRow:
    nodes = [
        {
            "id": id_,
            "kind": kind,
            "label": text.replace("fan", what),
            "lines": [[line, line]] if line else [],
        }
        for id_, kind, text, line in NODES
    ]
    edges = [{"from": edge[0], "to": edge[1], "label": edge[2:]} for edge in EDGES]
    return LogicRow.model_validate(
        {
            "id": name,
            "set": set_,
            "text": TRAY.replace("fan", what),
            "ticket": {"title": f"The {what} is slow", "description": "An alarm is shown."},
            "reference": {"nodes": nodes, "edges": edges},
        }
    )


ROWS = [row("fan"), row("blower", what="blower"), row("pump", "pumps", what="pump")]


def bench(**changes: object) -> JudgeBench:
    parts = {
        "scorer": ScorerService(EMBEDDER),
        "pages": PageContexts(own_page, EMBEDDER),
        "embedder": EMBEDDER,
        "readers": {"old": lambda _row: None, "recorded": reference_of},
    }
    return JudgeBench(**parts | changes)


def judged(rows: Sequence[LogicRow] = ROWS[:1], **changes: object) -> list[Judgement]:
    return bench(**changes).run(rows, ROWS, lambda: None)


class SureScorer:
    """Finds everything alike, and says how sure it is."""

    def score(self, request: ScoreRequest) -> ScoreResponse:
        score = Score(**dict.fromkeys(DIMENSIONS, Dimension(value=3, reason="")), chance=0.75)
        ranked = (ScoredCandidate(candidate=each, score=score) for each in request.candidates)
        return ScoreResponse(ranked=tuple(ranked))


def test_a_reference_cites_the_lines_of_its_nodes():
    workflow = reference_of(ROWS[0])
    assert workflow.by_id["c"].citations == (Citation(document_id="fan", start_line=4, end_line=4),)
    assert [step.id for step in workflow.steps if step.implied] == ["g"]
    assert is_clean(lint(workflow))


def test_the_context_is_the_page_of_the_row():
    context = PageContexts(own_page, EMBEDDER).context(ROWS[0].draft, ROWS[:1])
    assert {hit.chunk.span.document_id for hit in context.chunks} == {"fan"}
    assert context.nodes[0].node.document_ids == ("fan",)
    assert context.pages[0].text == ROWS[0].text
    assert not context.pages[0].is_read


def test_near_is_the_same_set_and_far_another():
    neighbours = Neighbours.of(ROWS, EMBEDDER)
    assert {id_: near.id for id_, near in neighbours.near.items()} == {
        "fan": "blower",
        "blower": "fan",
    }
    assert neighbours.far["fan"].id == "pump"
    assert not Neighbours.of(ROWS[:1], EMBEDDER).near


def test_one_wrong_guard_is_the_least_there_is():
    reference = reference_of(ROWS[0])
    (wrong,) = one_guard_wrong(reference, random.Random(1))
    assert guard_harm(reference, wrong.workflow) == 1
    assert not list(
        one_guard_wrong(Workflow(title="", steps=reference.steps[:1]), random.Random(1))
    )


def test_everything_is_scored_and_measured():
    judgements = judged()
    origins = {one.origin for one in judgements}
    assert {"reference", "recorded", "one guard", "near page", "far page"} <= origins
    assert {kind.value for kind in Perturbation} - origins <= {
        "escalated",
        "jump lost",
        "stop lost",
    }
    (reference,) = (one for one in judgements if one.origin == "reference")
    assert reference.acceptable
    assert reference.guards == 1
    (far,) = (one for one in judgements if one.origin == "far page")
    assert far.row == "fan"
    assert all(one.harm > 0 for one in judgements if one.origin in {"missing", "unguarded"})


def test_the_report_tells_kinds_readers_and_pages_apart():
    figures = report(judged(ROWS), {"pairs": "pages.jsonl"}, 1.0).model_dump()
    assert figures["overall"]["n"] == 3
    assert figures["sets"].keys() == {"switches", "pumps"}
    assert figures["kinds"]["missing"]["n"] == 3
    assert figures["readers"]["one guard"]["n"] == 3
    assert figures["pages"]["far page, all"]["n"] == 3
    assert figures["acceptable"]["unperturbed"]["n"] == 6
    assert "old" not in figures["overall"]
    assert list(report(judged(), {}, 1.0).tables())


def test_a_reader_that_is_as_good_is_no_worse_one():
    judgements = judged()
    assert pairs(judgements, "recorded")
    assert clearly_worse(pairs(judgements, "recorded")) == []
    assert "recorded" not in summary(judgements)


def test_a_chance_is_kept_where_the_scorer_tells_one():
    judgements = judged(scorer=SureScorer())
    assert {one.chance for one in judgements} == {0.75}
    assert "ece" in report(judgements, {}, 1.0).model_dump()["acceptable"]["all"]
    assert all(one.chance is None or 0 <= one.chance < 1 for one in judged())


def test_old_workflows_and_pages_come_from_files(tmp_path: Path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "fan.md").write_text(TRAY)
    logic_row = ROWS[0].model_copy(update={"text": "", "doc": "fan.md"})
    old = tmp_path / "old.jsonl"
    made = {"id": logic_row.id, "workflow": reference_of(logic_row).model_dump(mode="json")}
    old.write_text(json.dumps(made))
    setup = Judging(None, tmp_path / "logic" / "pages.jsonl", EMBEDDER, old)
    judgements = setup.bench((0.3,), 1, 0).run([logic_row], [logic_row], lambda: None)
    origins = {one.origin for one in judgements}
    assert {"reference", "old"} <= origins
    assert "near page" not in origins
    assert setup.config() == {"old": "old.jsonl"}


@pytest.mark.parametrize("draws", [1, 2])
def test_perturbations_are_drawn_as_often_as_requested(draws: int):
    judgements = [one for one in judged(draws=draws) if one.origin == "missing"]
    assert len(judgements) == draws
