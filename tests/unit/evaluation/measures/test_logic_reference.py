"""The figures are those of the script that measured the logic of workflows before."""

import importlib.util
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from evaluation.material.logic_rows import GoldGraph, LogicRow, read_rows
from evaluation.measures.logic import LogicCase, logic_figures
from services.knowledge.embedding.embedders import HashingEmbedder
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

DATA = Path(os.environ.get("FLOWXPERT_DATA", Path(__file__).parents[5] / "shared" / "data"))
SCRIPT = DATA.parent / "tools" / "logic_score.py"
PAGES = DATA / "logic" / "pages.jsonl"
RECORDED = DATA / "logic" / "old_extractive.jsonl"

pytestmark = pytest.mark.skipif(
    not (SCRIPT.exists() and PAGES.exists() and RECORDED.exists()),
    reason=f"no pages at {PAGES} or no script at {SCRIPT}: set FLOWXPERT_DATA",
)

EVERY = 6
"""One page of so many."""
EMBEDDER = HashingEmbedder()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("logic_score", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases() -> Iterator[tuple[LogicRow, dict, Workflow]]:
    """Pages with what was recorded for them, with their own drawing, and with it made worse."""
    lines = [json.loads(line) for line in PAGES.read_text(encoding="utf-8").splitlines()]
    recorded = {
        line["id"]: Workflow.model_validate(line["workflow"])
        for line in map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    }
    for place, (row, line) in enumerate(zip(read_rows(PAGES), lines, strict=True)):
        if row.id in recorded:
            yield row, line, recorded[row.id]
        if place % EVERY == 0:
            yield row, line, as_workflow(row)
            yield row, line, made_worse(as_workflow(row), random.Random(place))


def as_workflow(row: LogicRow) -> Workflow:
    drawn: GoldGraph | None = row.reference
    assert drawn is not None
    return Workflow(
        title="",
        steps=tuple(
            Step(
                id=node.id,
                kind=StepKind(node.kind),
                text=node.label,
                citations=tuple(
                    Citation(document_id=row.doc, start_line=first, end_line=last)
                    for first, last in node.lines or ()
                ),
            )
            for node in drawn.nodes
        ),
        transitions=tuple(
            Transition(source=edge.source, target=edge.target, condition=edge.label)
            for edge in drawn.edges
        ),
    )


def made_worse(workflow: Workflow, rng: random.Random) -> Workflow:
    """Steps lost, answers and targets exchanged, words changed."""
    steps = [step for step in workflow.steps if rng.random() > 0.15]
    ids = [step.id for step in steps]
    changed = tuple(
        step.model_copy(update={"text": f"If needed, {step.text}"}) if rng.random() < 0.2 else step
        for step in steps
    )
    answers = ("Yes", "No", "otherwise", "in some other case", "")
    edges = tuple(
        edge.model_copy(
            update={
                "condition": edge.condition if rng.random() > 0.2 else rng.choice(answers),
                "target": edge.target if rng.random() > 0.1 else rng.choice(ids),
            }
        )
        for edge in workflow.transitions
        if edge.source in ids and edge.target in ids
    )
    return Workflow(title="", steps=changed, transitions=edges)


def test_every_figure_equals_that_of_the_script(script: ModuleType) -> None:
    sample = list(cases())
    ours = logic_figures(
        [LogicCase(row.page, row.reference, made) for row, _, made in sample], EMBEDDER
    )
    for (row, line, made), figures in zip(sample, ours, strict=True):
        theirs = script.score(line, made.model_dump(mode="json"), EMBEDDER.embed)
        expected = {name: value for name, value in theirs.items() if value is not None}
        for ours_alone in ("loose_or_hedged", "doubted", "wrong_doubted"):
            figures.pop(ours_alone, None)
        assert figures == pytest.approx(expected), row.id


def test_a_ticket_without_a_workflow_counts_as_in_the_script(script: ModuleType) -> None:
    row = read_rows(PAGES)[0]
    line = json.loads(PAGES.read_text(encoding="utf-8").splitlines()[0])
    (ours,) = logic_figures([LogicCase(row.page, row.reference, None)], EMBEDDER)
    assert ours.pop("loose_or_hedged") == 1
    assert ours == script.score(line, None, EMBEDDER.embed)
