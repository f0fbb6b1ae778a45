"""The figures of one answer: its workflow, and each baseline's, against the reference."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.material.pairs import Pair
from evaluation.measures.figures import Figures
from evaluation.measures.support import SupportCheck
from services.contracts.ticket import Fit
from services.knowledge.model import KnowledgeContext
from services.knowledge.ports import Embedder
from services.tickets.walk.fit import Thresholds
from services.workflow.compare import compare, texts_of
from services.workflow.lint import is_clean, lint
from services.workflow.model import StepKind, Workflow

_NOTHING: Figures = {
    "precision": 0.0,
    "recall": 0.0,
    "f1": 0.0,
    "graph_f1": 0.0,
    "accepted": 0.0,
}
"""Of a query that got no workflow. `supported` and `lint_clean` are figures of workflows: a query
without one has none."""


@dataclass(frozen=True)
class Answer:
    """What the walk made of one form of a pair's query, and what the baselines make of it."""

    pair: Pair
    form: str
    context: KnowledgeContext
    ranked: tuple[Workflow, ...]
    """As the scorer ranked them; the first is the answer."""
    favourite: Workflow | None
    """The planner's own first choice."""
    baselines: Mapping[str, Workflow | None]

    @property
    def workflow(self) -> Workflow | None:
        """The best one, None when the planner found no procedure."""
        return self.ranked[0] if self.ranked else None

    def workflows(self) -> Iterator[Workflow]:
        """All workflows that are to be measured, the reference too."""
        for workflow in (self.pair.reference, *self.ranked, *self.baselines.values()):
            if workflow:
                yield workflow


@dataclass(frozen=True)
class Row:
    """The figures of one answer."""

    pair: Pair
    form: str
    figures: Figures
    baselines: Mapping[str, Figures]
    diagnosis: Figures
    """Where quality is lost: pages found and chosen, candidates passed over."""
    author: str = ""
    """The planner that the answer names as its own; empty where there is no answer."""

    def record(self) -> dict[str, object]:
        """As JSON for looking into single answers."""
        return {
            "id": self.pair.id,
            "set": self.pair.group,
            "form": self.form,
            "author": self.author,
            **self.figures,
            **self.diagnosis,
            "baselines": {name: figures["f1"] for name, figures in self.baselines.items()},
        }


class Measure:
    """Measures answers whose texts it has embedded all at once."""

    def __init__(self, vectors: Mapping[str, NDArray[np.float32]], support: SupportCheck) -> None:
        """`vectors` by text, markup stripped."""
        self._vectors = vectors
        self._support = support

    @classmethod
    def of(cls, answers: Sequence[Answer], embedder: Embedder, support: SupportCheck) -> "Measure":
        """Embeds every text of the answers' workflows."""
        texts = sorted({t for answer in answers for t in texts_of(*answer.workflows())})
        return cls(dict(zip(texts, embedder.embed(texts), strict=True)), support)

    def row(self, answer: Answer) -> Row:
        """All figures of one answer."""
        return Row(
            pair=answer.pair,
            form=answer.form,
            figures=self._figures(answer.workflow, answer.pair),
            baselines={
                name: self._likeness(workflow, answer.pair)
                for name, workflow in answer.baselines.items()
            },
            diagnosis=self._diagnosis(answer),
            author=_author(answer.workflow),
        )

    def _figures(self, workflow: Workflow | None, pair: Pair) -> Figures:
        figures = self._likeness(workflow, pair)
        if workflow is None:
            return figures | {"branching": 0.0, "answered": 0.0}
        return figures | {
            "supported": self._support.share(workflow),
            "lint_clean": float(is_clean(lint(workflow))),
            "branching": float(_branches(workflow)),
            "answered": 1.0,
        }

    def _likeness(self, workflow: Workflow | None, pair: Pair) -> Figures:
        if workflow is None or pair.reference is None:
            return dict(_NOTHING)
        comparison = compare(workflow, pair.reference, self._embed)
        return {
            "precision": comparison.step_precision,
            "recall": comparison.step_recall,
            "f1": comparison.step_f1,
            "graph_f1": comparison.graph_f1,
            "accepted": float(comparison.accepted),
        }

    def _diagnosis(self, answer: Answer) -> Figures:
        pair = answer.pair
        document_ids = {
            *(hit.chunk.span.document_id for hit in answer.context.chunks),
            *(name for hit in answer.context.nodes for name in hit.node.document_ids),
        }
        f1 = [self._likeness(workflow, pair)["f1"] for workflow in answer.ranked]
        return {
            "page_found": float(bool(document_ids & set(pair.gold_documents))),
            "page_chosen": float(_main_document(answer.workflow) in pair.gold_documents),
            "fits": float(Thresholds.shipped().fit_of(answer.context) is Fit.SURE),
            "favourite_f1": self._likeness(answer.favourite, pair)["f1"],
            "best_candidate_f1": max(f1, default=0.0),
        }

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vectors[text] for text in texts])


def _branches(workflow: Workflow) -> bool:
    """Whether some decision has two exits with different labels."""
    return any(
        len({e.condition.strip().casefold() for e in workflow.exits(step.id)} - {""}) >= 2
        for step in workflow.of_kind(StepKind.DECISION)
    )


def _author(workflow: Workflow | None) -> str:
    return workflow.provenance.planner if workflow and workflow.provenance else ""


def _main_document(workflow: Workflow | None) -> str | None:
    """The document most steps cite."""
    if workflow is None:
        return None
    cited = Counter(c.document_id for step in workflow.steps for c in step.citations)
    return cited.most_common(1)[0][0] if cited else None
