"""Every flowchart of the benchmark is read as its authors' reference says."""

import json
import os
from pathlib import Path

import pytest

from services.workflow.formats.mermaid import from_mermaid, to_mermaid
from services.workflow.plain import plain

DATA = Path(os.environ.get("FLOWXPERT_DATA", Path(__file__).parents[3] / "shared" / "data"))
PAIRS = DATA / "bench" / "workflows.jsonl"

pytestmark = pytest.mark.skipif(
    not PAIRS.exists(), reason=f"no benchmark at {PAIRS}: set FLOWXPERT_DATA"
)


def pairs() -> list[dict]:
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [pair for pair in map(json.loads, lines) if pair.get("mermaid")]


def words(label: str) -> str:
    """The charts were written with other quotes and bars than the references."""
    return plain(label).replace('"', "'").replace("|", "/")


def test_every_chart_is_read_and_kept() -> None:
    for pair in pairs():
        workflow = from_mermaid(pair["mermaid"])
        assert from_mermaid(to_mermaid(workflow)) == workflow


def test_nodes_and_edges_are_those_of_the_reference() -> None:
    different = [pair["id"] for pair in pairs() if not agrees(pair)]

    # One names a node `end_` that the reference calls `end`; one reference keeps subgraphs as
    # nodes where arrows lead to their first step here; one counts a fork without labels as a
    # decision.
    assert len(different) <= 3, different


def agrees(pair: dict) -> bool:
    workflow, reference = from_mermaid(pair["mermaid"]), pair["reference"]
    nodes = {(step.id, words(step.text), step.kind.value) for step in workflow.steps}
    edges = sorted((t.source, t.target, words(t.condition)) for t in workflow.transitions)
    return nodes == {
        (node["id"], words(node["label"]), node["kind"]) for node in reference["nodes"]
    } and edges == sorted(
        (edge["from"], edge["to"], words(edge["label"])) for edge in reference["edges"]
    )
