"""How close a workflow is to a reference: STEPScore, acceptance, graph F1.

STEPScore is FlowXpert's measure. What the paper leaves open is fixed so: the key steps are the
texts of all steps, markup stripped, equal texts once; commands and conditions are not part of
them; a negative cosine counts as 0. Graph F1 compares conditions: the answers on two edges must
agree, each read together with the question it answers.
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
"""Texts to rows of unit length, in order."""

MATCH_COSINE = 0.65
"""From this cosine on, a reference step counts as recalled and two nodes as the same."""

ANSWER_COSINE = 0.5
"""From this cosine on, two answers in other words than yes and no are the same."""

ACCEPTED_SHARE = 0.75
"""FlowXpert, section on production: accepted is what recalls this share of the core steps."""

Answer = bool | str
"""Whether the question, its negations taken away, holds; the words of any other answer."""
Agree = Callable[[Answer, Answer], bool]


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

    def agree(one: Answer, other: Answer) -> bool:
        return same_answer(one, other, lambda a, b: float(cosines[texts[a], texts[b]]))

    own = [texts[plain(step.text)] for step in generated.steps]
    wanted = [texts[plain(step.text)] for step in reference.steps]
    steps = cosines[np.ix_(sorted(set(own)), sorted(set(wanted)))]
    precision, recall = _mean_best(steps, axis=1), _mean_best(steps, axis=0)
    recalled = float((steps.max(axis=0) >= match_cosine).mean()) if steps.size else 0.0
    return WorkflowComparison(
        step_precision=100 * precision,
        step_recall=100 * recall,
        step_f1=100 * _f1(precision, recall),
        graph_f1=100
        * _graph_f1(
            generated,
            reference,
            _matched(generated, reference, cosines[np.ix_(own, wanted)], match_cosine),
            agree,
        ),
        recalled=recalled,
        accepted=recalled >= accepted_share,
    )


def texts_of(*workflows: Workflow) -> list[str]:
    """What `compare` wants embedded: each step's plain text and each worded answer, none twice."""
    steps = (plain(step.text) for workflow in workflows for step in workflow.steps)
    answers = (answer for workflow in workflows for _, answer in _answers(workflow))
    return list(dict.fromkeys([*steps, *(each for each in answers if isinstance(each, str))]))


def same_answer(one: Answer, other: Answer, cosine: Callable[[str, str], float]) -> bool:
    """Whether two answers agree; `cosine` is asked for those in words only."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other or cosine(one, other) >= ANSWER_COSINE


def _mean_best(cosines: NDArray[Any], *, axis: int) -> float:
    return float(cosines.max(axis=axis).mean()) if cosines.size else 0.0


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _matched(
    generated: Workflow, reference: Workflow, cosines: NDArray[Any], match_cosine: float
) -> dict[str, str]:
    """Steps of the reference by the generated ones that are the same, one to one."""
    return {
        generated.steps[row].id: reference.steps[column].id
        for row, column in best_pairs(cosines)
        if cosines[row, column] >= match_cosine
    }


def _graph_f1(
    generated: Workflow, reference: Workflow, same: Mapping[str, str], agree: Agree
) -> float:
    """F1 over nodes and edges together.

    An edge counts when both its ends are matched to those of an edge of the reference and, where
    both carry answers, some two of them agree.
    """
    own, wanted = _edges(generated), _edges(reference)
    placed = {
        (same[a], same[b]): answers for (a, b), answers in own.items() if a in same and b in same
    }
    kept = sum(_some_agree(placed[edge], wanted[edge], agree) for edge in placed.keys() & wanted)
    sizes = len(generated.steps) + len(own) + len(reference.steps) + len(wanted)
    return 2 * (len(same) + kept) / sizes if sizes else 0.0


def _some_agree(some: set[Answer], others: set[Answer], agree: Agree) -> bool:
    if not some or not others:
        return True
    return any(agree(one, other) for one in some for other in others)


_Edge = tuple[str, str]


def _edges(workflow: Workflow) -> dict[_Edge, set[Answer]]:
    """The answers by source and target; edges between the same two are one."""
    found: dict[_Edge, set[Answer]] = {
        (edge.source, edge.target): set() for edge in workflow.transitions
    }
    for edge, answer in _answers(workflow):
        found[edge].add(answer)
    return found


def _answers(workflow: Workflow) -> Iterator[tuple[_Edge, Answer]]:
    """Of the edges that carry one."""
    for edge in workflow.transitions:
        if edge.condition.strip():
            question = plain(workflow.by_id[edge.source].text)
            yield (edge.source, edge.target), compared_answer(question, edge.condition)
