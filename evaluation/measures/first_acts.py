"""First acts of a reader who saw ticket and screen alone, held against the drawing of the page.

An act is named by a page and a line. It is out of turn where a question that leads to it has not
been asked: neither an act before it nor the act itself stands on that question, or on the check
whose outcome the question asks.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evaluation.material.logic_rows import GoldGraph, LogicRow
from evaluation.measures.bootstrap import ratio
from evaluation.measures.figures import Figures
from evaluation.measures.logic_graph import LogicGraph, gold_graph


class Act(BaseModel):
    """One thing that the reader would do."""

    model_config = ConfigDict(frozen=True)

    page: str
    line: int
    act: str = ""
    changes: bool = False
    """Whether the reader says that it changes something, and does not only look."""


class FirstActs(BaseModel):
    """What a reader would do first for one ticket, in this order."""

    model_config = ConfigDict(frozen=True)

    file: str
    acts: tuple[Act, ...]
    trust: Annotated[float, Field(ge=1, le=5)]


@dataclass(frozen=True)
class JudgedAct:
    """An act against the drawing of the ticket's page."""

    is_step: bool
    is_core: bool
    is_in_turn: bool
    changes: bool


def judged_acts(reader: FirstActs, row: LogicRow) -> list[JudgedAct]:
    """Return the acts of a reader, each as the drawing of the row has it.

    An act on another page than the row's is on no step of it.
    """
    if row.reference is None:
        return []
    graph, lines = gold_graph(row.reference), _lines_by_node(row.reference)
    questions = _nodes_that_ask(graph)
    answered: set[str] = set()
    judged = []
    for act in reader.acts:
        is_here = act.page == row.page
        on = [id_ for id_, own in lines.items() if is_here and act.line in own]
        answered |= {question for question, nodes in questions.items() if nodes.intersection(on)}
        before = graph.answers_before(on)
        in_turn = any({question for question, _ in before[id_]} - {id_} <= answered for id_ in on)
        is_core = any(graph.nodes[id_].is_core for id_ in on)
        judged.append(JudgedAct(bool(on), is_core, in_turn, act.changes))
    return judged


def act_figures(tickets: Sequence[Sequence[JudgedAct]], trust: Sequence[float]) -> Figures:
    """Return shares of all acts and of the changes among them, with 95 % intervals over tickets."""
    if not any(tickets):
        return {}
    figures: Figures = {"n": len(tickets), "acts": sum(map(len, tickets))}
    every = [len(acts) for acts in tickets]
    changes = [sum(act.changes for act in acts) for acts in tickets]
    early = [sum(act.changes and not act.is_in_turn for act in acts) for acts in tickets]
    for name, parts, wholes in (
        ("on a step", [sum(act.is_step for act in acts) for acts in tickets], every),
        ("on a core step", [sum(act.is_core for act in acts) for acts in tickets], every),
        ("in turn", [sum(act.is_in_turn for act in acts) for acts in tickets], every),
        ("changes", changes, every),
        ("changes out of turn", early, changes),
    ):
        share = ratio(np.array(parts), np.array(wholes), seed=0)
        figures |= {
            name: round(share.mean, 3),
            f"{name} from": round(share.low, 3),
            f"{name} to": round(share.high, 3),
        }
    return figures | {"trust": round(fmean(trust), 2)}


def _lines_by_node(drawn: GoldGraph) -> Mapping[str, Collection[int]]:
    return {
        node.id: {n for first, last in node.lines or () for n in range(first, last + 1)}
        for node in drawn.nodes
    }


def _nodes_that_ask(graph: LogicGraph) -> Mapping[str, set[str]]:
    """Return for each question itself and the actions right before it, whose outcome it asks."""
    return {
        question: {question}
        | {
            edge.source
            for edge in graph.edges
            if edge.target == question and not graph.nodes[edge.source].is_decision
        }
        for question in graph.decisions
    }
