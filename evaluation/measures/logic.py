"""The logic of a workflow against a drawn page: what is done under which condition?

Steps are matched one to one by meaning and lines. Beside shares of matched steps there are three
figures of the logic itself. `guards`: F1 of facts "this step is reached only through that answer".
`profile`: the share of pairs of actions that go together as in the drawing (causal behavioural
profile; Weidlich, Polyvyanyy, Desai, Mendling and Weske, 2011). `loose`: of the guarded steps that
were found, the share that the workflow does unconditionally, which is dangerous; where the text of
such a step keeps a condition it is `hedged` instead.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linear_sum_assignment

from evaluation.material.logic_rows import GoldGraph
from evaluation.measures.figures import Figures
from evaluation.measures.logic_graph import Guard, LogicGraph, gold_graph, workflow_graph
from services.knowledge.ports import Embedder, Vectors
from services.language.answers import compared_answer
from services.workflow.compare import ComparableAnswer, same_answer
from services.workflow.model import Workflow

MATCH = 0.55
"""From this likeness on, two steps are the same."""
SAME_LINES = 0.15
"""What a line in common adds to the likeness of two steps."""

LEAST_CORE, LEAST_GUARDS, LEAST_PROFILE, MOST_LOOSE = 0.75, 0.5, 0.4, 0.15
"""An expert's bar: a workflow beyond it is acceptable. Both shares of guards count."""

COLUMNS = (
    "acceptable",
    "found",
    "core",
    "guards",
    "guards_p",
    "guards_r",
    "profile",
    "nodes",
    "decisions",
    "loose",
    "hedged",
    "loose_or_hedged",
)

_HEDGE = re.compile(
    r"\b(?:if|unless|only after|in case|when|otherwise|provided|as long as)\b", re.IGNORECASE
)


class Likeness:
    """Cosines of texts that were embedded all at once."""

    def __init__(self, vectors: Mapping[str, Vectors]) -> None:
        """`vectors` of unit length, by text."""
        self._vectors = vectors

    @classmethod
    def of(cls, texts: Iterable[str], embedder: Embedder) -> "Likeness":
        """Embeds each text once."""
        ordered = sorted(set(texts))
        return cls(dict(zip(ordered, embedder.embed(ordered), strict=True)))

    def cosine(self, one: str, other: str) -> float:
        """Of two of the texts."""
        return float(self._vectors[one] @ self._vectors[other])


@dataclass(frozen=True)
class LogicCase:
    """A drawn page and the workflow that was made for its ticket."""

    page: str
    """The id of the document."""
    drawn: GoldGraph
    workflow: Workflow | None

    @cached_property
    def gold(self) -> LogicGraph:
        """The drawing's logic."""
        return gold_graph(self.drawn)

    @cached_property
    def prediction(self) -> LogicGraph | None:
        """Logic graph of the workflow; None if there is no workflow or it has no step."""
        if self.workflow is None or not self.workflow.steps:
            return None
        return workflow_graph(self.workflow, self.page)

    def texts(self) -> set[str]:
        """All that may have to be compared by meaning."""
        if self.prediction is None:
            return set()
        texts = {text for graph in (self.gold, self.prediction) for text in graph.texts()}
        answers = {answer for graph in (self.gold, self.prediction) for answer in _worded(graph)}
        return texts | answers


def logic_figures(cases: Sequence[LogicCase], embedder: Embedder) -> list[Figures]:
    """The columns of each case, as shares; all texts are embedded in one batch.

    A case without a workflow counts 0 everywhere and is loose. `loose` and `hedged` are missing
    where no guarded step was found.
    """
    likeness = Likeness.of((text for case in cases for text in case.texts()), embedder)
    return [figures_of(case, likeness) for case in cases]


def figures_of(case: LogicCase, likeness: Likeness) -> Figures:
    """The columns of one case whose texts are known."""
    if case.prediction is None:
        return dict.fromkeys(COLUMNS, 0.0) | {"loose": 1.0, "loose_or_hedged": 1.0}
    matched = Matched(case.gold, case.prediction, likeness)
    return matched.figures() | _doubted(case, matched.wrong())


def _doubted(case: LogicCase, wrong: Collection[str]) -> Figures:
    """How many steps are marked as doubtful: of all, and of the wrong ones."""
    steps = case.workflow.steps if case.workflow else ()
    doubtful = {step.id for step in steps if step.doubt}
    figures: Figures = {"doubted": len(doubtful) / len(steps)} if steps else {}
    if wrong:
        figures["wrong_doubted"] = len(doubtful & set(wrong)) / len(wrong)
    return figures


def mean_percent(rows: Sequence[Figures]) -> Figures:
    """Of each column the mean over the rows that have it, in percent, with `n` rows."""
    columns = dict.fromkeys(name for row in rows for name in row)
    values = {name: [row[name] for row in rows if name in row] for name in columns}
    return {"n": len(rows)} | {
        name: round(100 * float(np.mean(column)), 1) for name, column in values.items()
    }


class Matched:
    """A drawing and a workflow whose steps are matched one to one."""

    def __init__(self, gold: LogicGraph, prediction: LogicGraph, likeness: Likeness) -> None:
        """Actions are matched with actions, decisions with decisions."""
        self.gold, self.prediction, self.likeness = gold, prediction, likeness
        self.actions: Mapping[str, str] = self._match(gold.actions, prediction.actions)
        """Actions of the workflow by those of the drawing that they are."""
        self.decisions: Mapping[str, str] = self._match(gold.decisions, prediction.decisions)
        """The same for decisions."""

    def figures(self) -> Figures:
        """All columns that are defined, in their order."""
        precision, recall = self._guard_shares()
        figures = {
            "found": 1.0,
            "core": self._core(),
            "guards": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
            "guards_p": precision,
            "guards_r": recall,
            "profile": self._profile(),
            "nodes": _dice(self.actions, self.gold.actions, self.prediction.actions),
            "decisions": _dice(self.decisions, self.gold.decisions, self.prediction.decisions),
            **self._unguarded(),
        }
        return {"acceptable": float(_is_acceptable(figures)), **figures}

    def wrong(self) -> frozenset[str]:
        """Steps of the workflow that the drawing does not have, or has under other answers."""
        back = {step: action for action, step in self.actions.items()}
        decisions = set(self.decisions.values())
        strange = {id_ for id_ in self.prediction.decisions if id_ not in decisions}
        return frozenset(
            strange
            | {id_ for id_ in self.prediction.actions if not self._is_right(back.get(id_), id_)}
        )

    def _is_right(self, gold: str | None, step: str) -> bool:
        if gold is None:
            return False
        stated, wanted = self.prediction.guards[step], self.gold.guards[gold]
        kept = sum(self.is_kept(guard, stated) for guard in wanted)
        return kept == len(wanted) == len(stated)

    def _match(self, ours: Sequence[str], theirs: Sequence[str]) -> dict[str, str]:
        """The best assignment of nodes of the drawing to nodes of the workflow."""
        if not ours or not theirs:
            return {}
        alike = np.array([[self._alike(one, other) for other in theirs] for one in ours])
        rows, columns = linear_sum_assignment(-alike)
        return {
            ours[row]: theirs[column]
            for row, column in zip(rows, columns, strict=True)
            if alike[row, column] >= MATCH
        }

    def _alike(self, gold: str, step: str) -> float:
        one, other = self.gold.nodes[gold], self.prediction.nodes[step]
        cosine = self.likeness.cosine(one.text, other.text)
        return cosine + (SAME_LINES if one.lines & other.lines else 0.0)

    def _guard_shares(self) -> tuple[float, float]:
        """Precision and recall; a decision or a step that was not found keeps its guards lost."""
        hits = sum(
            self.is_kept(guard, self.prediction.guards[step])
            for action, step in self.actions.items()
            for guard in self.gold.guards[action]
        )
        stated = sum(map(len, self.prediction.guards.values()))
        wanted = sum(map(len, self.gold.guards.values()))
        precision = hits / stated if stated else float(not wanted)
        return precision, hits / wanted if wanted else 1.0

    def is_kept(self, guard: Guard, stated: Iterable[Guard]) -> bool:
        """Whether a guard of the drawing is among those that a step of the workflow has."""
        if guard[0] not in self.decisions:
            return False
        decision, wanted = self.decisions[guard[0]], _answer_of(self.gold, guard)
        return any(
            other[0] == decision
            and same_answer(wanted, _answer_of(self.prediction, other), self.likeness.cosine)
            for other in stated
        )

    def _profile(self) -> float:
        """Pairs of an action that was not found, on either side, are wrong."""
        alike = sum(
            self.gold.relation(one, other)
            == self.prediction.relation(self.actions[one], self.actions[other])
            for one, other in itertools.combinations(self.gold.actions, 2)
            if one in self.actions and other in self.actions
        )
        pairs = _pairs(self.gold.actions) + _pairs(self.prediction.actions)
        return 2 * alike / pairs if pairs else 1.0

    def _unguarded(self) -> Figures:
        """`loose` and `hedged`; nothing where no guarded step was found."""
        guarded = [step for action, step in self.actions.items() if self.gold.guards[action]]
        if not guarded:
            return {}
        free = [step for step in guarded if not self.prediction.guards[step]]
        hedged = sum(bool(_HEDGE.search(self.prediction.nodes[step].text)) for step in free)
        return {
            "loose": (len(free) - hedged) / len(guarded),
            "hedged": hedged / len(guarded),
            "loose_or_hedged": len(free) / len(guarded),
        }

    def _core(self) -> float:
        """The share of the core steps that was found."""
        nodes = [*self.gold.actions, *self.gold.decisions]
        core = [id_ for id_ in nodes if self.gold.nodes[id_].is_core]
        kept = [id_ for id_ in core if id_ in self.actions or id_ in self.decisions]
        return len(kept) / len(core) if core else 1.0


def _is_acceptable(figures: Figures) -> bool:
    return (
        figures["core"] >= LEAST_CORE
        and min(figures["guards_p"], figures["guards_r"]) >= LEAST_GUARDS
        and figures["profile"] >= LEAST_PROFILE
        and figures.get("loose", 0.0) <= MOST_LOOSE
    )


def _answer_of(graph: LogicGraph, guard: Guard) -> ComparableAnswer:
    decision, label = guard
    return compared_answer(graph.nodes[decision].text, label)


def _worded(graph: LogicGraph) -> Iterable[str]:
    """Answers in other words than yes and no, as they are compared."""
    answers = (_answer_of(graph, (edge.source, edge.condition)) for edge in graph.edges)
    return (answer for answer in answers if isinstance(answer, str))


def _dice(matched: Mapping[str, str], ours: Sequence[str], theirs: Sequence[str]) -> float:
    sizes = len(ours) + len(theirs)
    return 2 * len(matched) / sizes if sizes else 1.0


def _pairs(actions: Sequence[str]) -> int:
    return len(actions) * (len(actions) - 1) // 2
