"""Similarity of a workflow to a reference: STEPScore, acceptance, graph F1.

STEPScore is FlowXpert's measure. Where the paper leaves details open, they are fixed so: the key
steps are the texts of all steps, markup stripped, equal texts once; commands and conditions are
not part of them; a negative cosine counts as 0. Graph F1 compares conditions: the answers on two
edges must agree, each read together with the question it answers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from services.kit.value import Value
from services.language.answers import compared_answer
from services.workflow.assignment import best_pairs
from services.workflow.model import Workflow
from services.workflow.plain import plain

Embed = Callable[[Sequence[str]], NDArray[Any]]
"""Function from texts to rows of unit length, in order."""

MATCH_COSINE = 0.65
"""Cosine from which a reference step counts as recalled, and two nodes as the same."""

ANSWER_COSINE = 0.5
"""Cosine from which two answers other than yes and no count as the same."""

ACCEPTED_SHARE = 0.75
"""Share of the core steps a workflow must recall to be accepted (FlowXpert, on production)."""

ComparableAnswer = bool | str
"""Truth of the question with its negations removed, or the words of any other answer."""
Agree = Callable[[ComparableAnswer, ComparableAnswer], bool]


class WorkflowComparison(Value):
    """One workflow against its reference; scores on 0–100, shares on 0–1."""

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
) -> WorkflowComparison:
    """Measure `generated` against `reference`; `embed` is called once, with `texts_of` both."""
    texts = {text: row for row, text in enumerate(texts_of(generated, reference))}
    vectors = embed(list(texts)) if texts else np.zeros((0, 1))
    cosines = np.clip(vectors @ vectors.T, 0.0, 1.0)

    def agree(one: ComparableAnswer, other: ComparableAnswer) -> bool:
        return same_answer(one, other, lambda a, b: float(cosines[texts[a], texts[b]]))

    own = [texts[plain(step.text)] for step in generated.steps]
    wanted = [texts[plain(step.text)] for step in reference.steps]
    steps = cosines[np.ix_(sorted(set(own)), sorted(set(wanted)))]
    precision, recall = _mean_of_best(steps, axis=1), _mean_of_best(steps, axis=0)
    total = precision + recall
    recalled = float((steps.max(axis=0) >= match_cosine).mean()) if steps.size else 0.0
    pairwise = cosines[np.ix_(own, wanted)]
    same = {
        generated.steps[row].id: reference.steps[column].id
        for row, column in best_pairs(pairwise)
        if pairwise[row, column] >= match_cosine
    }
    return WorkflowComparison(
        step_precision=100 * precision,
        step_recall=100 * recall,
        step_f1=100 * (2 * precision * recall / total if total else 0.0),
        graph_f1=100 * _graph_f1(generated, reference, same, agree),
        recalled=recalled,
        accepted=recalled >= accepted_share,
    )


def texts_of(*workflows: Workflow) -> list[str]:
    """Return the texts that `compare` embeds: plain step texts and worded answers, none twice."""
    steps = (plain(step.text) for workflow in workflows for step in workflow.steps)
    answers = (answer for workflow in workflows for _, answer in _answers(workflow))
    return list(dict.fromkeys([*steps, *(each for each in answers if isinstance(each, str))]))


def same_answer(
    one: ComparableAnswer, other: ComparableAnswer, cosine: Callable[[str, str], float]
) -> bool:
    """Return True if two answers agree; `cosine` is called only for worded ones."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other or cosine(one, other) >= ANSWER_COSINE


def _mean_of_best(cosines: NDArray[Any], *, axis: int) -> float:
    return float(cosines.max(axis=axis).mean()) if cosines.size else 0.0


def _graph_f1(
    generated: Workflow, reference: Workflow, same: Mapping[str, str], agree: Agree
) -> float:
    """F1 over nodes and edges together; `same` are reference ids by generated ids.

    An edge counts when both its ends are matched to those of an edge of the reference and, where
    both carry answers, some two of them agree.
    """
    own, wanted = _edges(generated), _edges(reference)
    placed = {
        (same[a], same[b]): answers for (a, b), answers in own.items() if a in same and b in same
    }
    kept = 0
    for edge in placed.keys() & wanted:
        some, others = placed[edge], wanted[edge]
        is_answered = bool(some and others)
        kept += not is_answered or any(agree(one, other) for one in some for other in others)
    sizes = len(generated.steps) + len(own) + len(reference.steps) + len(wanted)
    return 2 * (len(same) + kept) / sizes if sizes else 0.0


_Edge = tuple[str, str]


def _edges(workflow: Workflow) -> dict[_Edge, set[ComparableAnswer]]:
    """Return the answers by source and target; edges between the same two are merged."""
    answers_by_edge: dict[_Edge, set[ComparableAnswer]] = {
        (edge.source, edge.target): set() for edge in workflow.transitions
    }
    for edge, answer in _answers(workflow):
        answers_by_edge[edge].add(answer)
    return answers_by_edge


def _answers(workflow: Workflow) -> Iterator[tuple[_Edge, ComparableAnswer]]:
    """Yield the edges that carry an answer, with that answer."""
    for edge in workflow.transitions:
        if edge.condition.strip():
            question = plain(workflow.by_id[edge.source].text)
            yield (edge.source, edge.target), compared_answer(question, edge.condition)
