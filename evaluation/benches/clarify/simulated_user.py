"""An engineer who knows the facts of a drawn path, and answers questions that are about them."""

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.benches.clarify.hidden_facts import DrawnPath, HiddenFact
from evaluation.material.logic_rows import GoldGraph
from evaluation.measures.logic import Likeness, Matched
from evaluation.measures.logic_graph import gold_graph, workflow_graph
from services.knowledge.ports import Embedder
from services.language.answers import compared_answer
from services.tickets.ticket.question import (
    AnswerChoice,
    ClarifyingQuestion,
    DecisionAnswer,
    QuestionTopic,
    answered_exits,
)
from services.workflow.compare import ComparableAnswer, same_answer
from services.workflow.model import Workflow


@dataclass(frozen=True)
class Reply:
    """The choice of the user, and the facts of the path that it reveals."""

    choice: AnswerChoice
    fact_ids: frozenset[str]
    """Ids of the drawing's decisions."""


class SimulatedUser:
    """Knows what holds for the decisions of a workflow that are decisions of the path.

    They are matched one to one by meaning and lines, as `bench logic` does.
    """

    def __init__(
        self, path: DrawnPath, drawn: GoldGraph, workflow: Workflow, page: str, embedder: Embedder
    ) -> None:
        """`page` is the document that both tell of."""
        gold, graph = gold_graph(drawn), workflow_graph(workflow, page)
        answers = [fact.answer for fact in path] + [edge.condition for edge in workflow.transitions]
        bare = (_bare(answer) for answer in answers)
        likeness = Likeness.of([*gold.texts(), *graph.texts(), *bare], embedder)
        step_of = Matched(gold, graph, likeness).decisions
        self._workflow = workflow
        self._fact_of = {
            (step_of[fact.node.id], answer): fact.node.id
            for fact in path
            if fact.node.id in step_of
            for answer in _same(fact, workflow, step_of[fact.node.id], likeness)
        }

    def reply(self, question: ClarifyingQuestion, page: str) -> Reply | None:
        """The first choice that holds; None for `I do not know`.

        What the path does not tell is not so, as far as the engineer can see, where something else
        that is asked about is known.
        """
        if not question.choices:
            return None
        if question.about is QuestionTopic.PAGES:
            return Reply(question.choice_of(page), frozenset())
        for choice in question.choices:
            if any(self._revealed_ids(choice.facts[-1:])):
                return Reply(choice, frozenset(self._revealed_ids(choice.facts)))
        none = question.choices[-1]
        fact_ids = frozenset(self._revealed_ids(none.facts))
        return Reply(none, fact_ids) if fact_ids else None

    def _revealed_ids(self, facts: tuple[DecisionAnswer, ...]) -> Iterator[str]:
        for pair in answered_exits(self._workflow, facts).items():
            if pair in self._fact_of:
                yield self._fact_of[pair]


def _same(fact: HiddenFact, workflow: Workflow, step: str, likeness: Likeness) -> Iterator[str]:
    """The workflow's answer that says the same; none where none does."""
    wanted = _compared(fact.node.label, fact.answer)
    question = workflow.by_id[step].text
    answers = (edge.condition for edge in workflow.exits(step))
    same = (a for a in answers if same_answer(wanted, _compared(question, a), likeness.cosine))
    yield from list(same)[:1]


def _compared(question: str, answer: str) -> ComparableAnswer:
    return compared_answer(question, answer)


def _bare(answer: str) -> str:
    """An answer in other words than yes and no, as it is compared."""
    return answer.strip().lower().rstrip(".!,:")
