"""Which of a workflow's conditions a drawn page bears out, one fact at a time.

A fact of a step that the drawing does not have is wrong. An arrow is right where the drawing goes
from the one step to the other without another step of the workflow between them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.material.gold_pages import PageOf
from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import is_fitted
from evaluation.measures.logic import Likeness, LogicCase, Matched
from evaluation.measures.logic_graph import LogicGraph
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import ScreenedDocument
from services.language.answers import compared_answer
from services.runbook.evidence.conditions import condition_features
from services.runbook.evidence.fact import Fact, FactKind
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.workflow.compare import same_answer
from services.workflow.model import Transition, Workflow


@dataclass(frozen=True)
class ConditionExample:
    """One condition of one workflow."""

    row: str
    reader: str
    kind: FactKind
    signs: Mapping[str, float]
    is_right: bool

    @property
    def is_fitted(self) -> bool:
        """Whether something may be fitted on it."""
        return is_fitted(self.row)


def condition_examples(
    made: Sequence[tuple[LogicRow, Workflow]], reader: str, page_of: PageOf, embedder: Embedder
) -> Iterator[ConditionExample]:
    """Of all workflows; all texts are embedded in one batch."""
    drawn = [(row, w) for row, w in made if row.reference and w.steps]
    cases = [LogicCase(row.page, row.reference, w) for row, w in drawn if row.reference]
    likeness = Likeness.of((text for case in cases for text in case.texts()), embedder)
    for (row, workflow), case in zip(drawn, cases, strict=True):
        if case.prediction is None:
            continue
        truth = Truth(Matched(case.gold, case.prediction, likeness))
        text = ScreenedDocument(page_of(row)).for_model().text
        beside = GroundedWorkflow(workflow, CitedPages({row.page: text}))
        facts = facts_of(beside)
        for fact, signs in condition_features(beside, facts):
            yield ConditionExample(row.id, reader, fact.kind, signs, truth.holds(fact))


class Truth:
    """Tells right facts of a workflow from wrong ones."""

    def __init__(self, matched: Matched) -> None:
        self._gold, self._prediction = matched.gold, matched.prediction
        self._cosine = matched.likeness.cosine
        self._drawn: Mapping[str, str] = {
            step: gold
            for same in (matched.actions, matched.decisions)
            for gold, step in same.items()
        }

    def holds(self, fact: Fact) -> bool:
        """Whether the drawing says it too."""
        step = self._drawn.get(fact.step)
        if step is None:
            return False
        match fact.kind:
            case FactKind.QUESTION:
                return True
            case FactKind.FREE:
                return not self._gold.guards.get(step)
            case FactKind.GUARD:
                question = self._drawn.get(fact.other)
                return any(
                    decision == question
                    and self._is_same(fact.other, fact.answer, decision, answer)
                    for decision, answer in self._gold.guards.get(step, ())
                )
            case FactKind.END:
                return not any(self._following(step))
            case FactKind.ARROW:
                target = self._drawn.get(fact.other)
                return target is not None and any(
                    reached == target
                    and (not fact.answer or self._is_same(fact.step, fact.answer, step, answer))
                    for answer, reached in self._following(step)
                )

    def _is_same(self, step: str, step_answer: str, gold: str, answer: str) -> bool:
        return same_answer(
            compared_answer(self._gold.nodes[gold].text, answer),
            compared_answer(self._prediction.nodes[step].text, step_answer),
            self._cosine,
        )

    def _following(self, gold: str) -> Iterator[tuple[str, str]]:
        """The next steps of the drawing that the workflow has too, each with the first answer."""
        drawn_ids = set(self._drawn.values())
        seen: set[tuple[str, str]] = set()
        todo = [(edge.condition, edge.target) for edge in _exits(self._gold, gold)]
        while todo:
            answer, node = todo.pop()
            if (answer, node) in seen:
                continue
            seen.add((answer, node))
            if node in drawn_ids:
                yield answer, node
            else:
                todo += [(answer, edge.target) for edge in _exits(self._gold, node)]


def _exits(graph: LogicGraph, node: str) -> list[Transition]:
    return [edge for edge in graph.edges if edge.source == node]
