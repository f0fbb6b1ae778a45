"""How close a workflow is to a reference: STEPScore, acceptance, graph F1.

STEPScore is FlowXpert's measure. What the paper leaves open is fixed so: the key steps are the
texts of all steps, markup stripped, equal texts once; commands and conditions are not part of
them; a negative cosine counts as 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from scipy.optimize import linear_sum_assignment

from services.workflow.model import Workflow
from services.workflow.plain import plain

Embed = Callable[[Sequence[str]], NDArray[Any]]
"""Texts to rows of unit length, in order."""

MATCH_COSINE = 0.65
"""From this cosine on, a reference step counts as recalled and two nodes as the same."""

ACCEPTED_SHARE = 0.75
"""FlowXpert, section on production: accepted is what recalls this share of the core steps."""


class Comparison(BaseModel):
    """One workflow against its reference; scores on 0–100, shares on 0–1."""

    model_config = ConfigDict(frozen=True)

    step_precision: float = Field(ge=0, le=100)
    step_recall: float = Field(ge=0, le=100)
    step_f1: float = Field(ge=0, le=100)
    graph_f1: float = Field(ge=0, le=100)
    recalled: float = Field(ge=0, le=1)
    """Share of the reference's key steps that some generated step matches."""
    accepted: bool


def compare(
    generated: Workflow,
    reference: Workflow,
    embed: Embed,
    *,
    match_cosine: float = MATCH_COSINE,
    accepted_share: float = ACCEPTED_SHARE,
) -> Comparison:
    """Measure `generated` against `reference`; `embed` is called once, with each text once."""
    texts = {text: row for row, text in enumerate(_texts(generated, reference))}
    vectors = embed(list(texts)) if texts else np.zeros((0, 1))
    cosines = np.clip(vectors @ vectors.T, 0.0, 1.0)
    own = [texts[plain(step.text)] for step in generated.steps]
    wanted = [texts[plain(step.text)] for step in reference.steps]
    steps = cosines[np.ix_(sorted(set(own)), sorted(set(wanted)))]
    precision, recall = _mean_best(steps, axis=1), _mean_best(steps, axis=0)
    recalled = float((steps.max(axis=0) >= match_cosine).mean()) if steps.size else 0.0
    return Comparison(
        step_precision=100 * precision,
        step_recall=100 * recall,
        step_f1=100 * _f1(precision, recall),
        graph_f1=100 * _graph_f1(generated, reference, cosines[np.ix_(own, wanted)], match_cosine),
        recalled=recalled,
        accepted=recalled >= accepted_share,
    )


def _texts(*workflows: Workflow) -> dict[str, None]:
    return {plain(step.text): None for workflow in workflows for step in workflow.steps}


def _mean_best(cosines: NDArray[Any], *, axis: int) -> float:
    return float(cosines.max(axis=axis).mean()) if cosines.size else 0.0


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _graph_f1(
    generated: Workflow, reference: Workflow, cosines: NDArray[Any], match_cosine: float
) -> float:
    """F1 over nodes and edges together; an edge counts when both its ends are matched to one."""
    rows, columns = linear_sum_assignment(cosines, maximize=True)
    same = {
        generated.steps[row].id: reference.steps[column].id
        for row, column in zip(rows, columns, strict=True)
        if cosines[row, column] >= match_cosine
    }
    own, wanted = _edges(generated), _edges(reference)
    kept = {(same[a], same[b]) for a, b in own if a in same and b in same} & wanted
    hits = len(same) + len(kept)
    sizes = len(generated.steps) + len(own) + len(reference.steps) + len(wanted)
    return 2 * hits / sizes if sizes else 0.0


def _edges(workflow: Workflow) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in workflow.transitions}
