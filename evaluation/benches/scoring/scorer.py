"""`bench scorer`: does the score fall as a workflow gets worse?

References are scored in the context that retrieval finds for their pair, beside the same references
made worse, each kind of perturbation apart. References cite nothing; before it is scored, each
workflow, whole or perturbed, gets the citations that the context can give its steps.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from evaluation.benches.planning.workflows import FindContext
from evaluation.material.pairs import Pair
from evaluation.material.requests import score_request
from evaluation.measures.falling_scores import Judged, report
from evaluation.measures.figures import Report
from evaluation.perturbations.kinds import (
    SEVERITIES,
    TO_STEPS,
    Perturbation,
    PerturbationError,
)
from evaluation.perturbations.perturb import perturb
from services.contracts.planner import Candidate
from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import Score, Scorer
from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounder, RecentVectors, cite
from services.knowledge.ports import Embedder
from services.workflow.model import Step, StepKind, Workflow

LEAST_STEPS = 5
LEAST_DECISIONS = 2
"""For swapped branches: with a single decision every severity is the same."""

_ORIGINAL = "original"
_REMEMBERED = 50_000


@dataclass(frozen=True)
class Variant:
    """A reference, whole (severity 0) or perturbed."""

    kind: Perturbation | None
    severity: float
    draw: int
    workflow: Workflow


class ScorerBench:
    """Perturbs, grounds, scores and counts."""

    def __init__(
        self,
        *,
        find_context: FindContext,
        gold_context: FindContext,
        scorer: Scorer,
        embedder: Embedder,
        draws: int,
        seed: int,
        severities: Sequence[float] = SEVERITIES,
        at_once: int = 1,
    ) -> None:
        """Each kind at each severity is drawn `draws` times per reference.

        `at_once` pairs are scored at a time: a model's server is at its best with many calls.
        """
        self._find_context = find_context
        self._gold_context = gold_context
        self._scorer = scorer
        self._vectors = RecentVectors(embedder, _REMEMBERED)
        self._draws = draws
        self._seed = seed
        self._severities = tuple(severities)
        self._at_once = at_once

    def run(
        self, pairs: Sequence[Pair], config: Mapping[str, object], advance: Callable[[], None]
    ) -> Report:
        """Scores every pair whose reference has at least five steps."""
        started = time.perf_counter()
        judged = self.judge_all(pairs, advance)
        return report(judged, config, round(time.perf_counter() - started, 1))

    def judge_all(self, pairs: Sequence[Pair], advance: Callable[[], None]) -> list[Judged]:
        """The scores of all pairs that can be measured, and of their copies."""
        cases = [pair for pair in pairs if is_measured(pair)]
        judged: list[Judged] = []
        with ThreadPoolExecutor(self._at_once) as pool:
            for case in pool.map(lambda pair: self.judge(pair, cases), cases):
                judged.append(case)
                advance()
        return judged

    def judge(self, pair: Pair, pairs: Sequence[Pair]) -> Judged:
        """The scores of a reference and of all its perturbed copies."""
        ticket = pair.ticket(pair.headline_forms[0])
        retrieved = self._find_context(pair, ticket)
        has_page = bool(_documents(retrieved) & set(pair.gold_documents))
        context = retrieved if has_page else _joined(self._gold_context(pair, ticket), retrieved)
        variants = {
            f"{v.kind or _ORIGINAL}/{v.severity}/{v.draw}": v for v in self._variants(pair, pairs)
        }
        grounder = Grounder(Evidence.of(context), self._vectors)
        grounded = grounder.ground(variant.workflow for variant in variants.values())
        candidates = tuple(
            Candidate(id=name, workflow=_with_steps(variant.workflow, cite(steps)))
            for (name, variant), steps in zip(variants.items(), grounded, strict=True)
        )
        ranked = self._scorer.score(score_request(ticket, context, candidates)).ranked
        scores = {scored.candidate.id: scored.score for scored in ranked}
        return _judged(pair, variants, scores, page_added=not has_page)

    def _variants(self, pair: Pair, pairs: Sequence[Pair]) -> Iterator[Variant]:
        assert pair.reference  # noqa: S101 - `is_measured`
        yield Variant(None, 0.0, 0, pair.reference)
        foreign = self._foreign_steps(pair, pairs)
        for kind in TO_STEPS:
            if kind is Perturbation.SWAPPED and not has_branches(pair.reference):
                continue
            for severity in self._severities:
                for draw in range(self._draws):
                    rng = random.Random(f"{self._seed}/{pair.id}/{kind}/{severity}/{draw}")  # noqa: S311
                    try:
                        worse = perturb(pair.reference, kind, severity, rng, foreign)
                    except PerturbationError:
                        continue
                    yield Variant(kind, severity, draw, worse)

    def _foreign_steps(self, pair: Pair, pairs: Sequence[Pair]) -> tuple[Step, ...]:
        """Of another reference of the same set, which are the hardest to tell from its own."""
        others = [
            other.reference.steps
            for other in pairs
            if other.reference
            and other.group == pair.group
            and not set(other.gold_documents) & set(pair.gold_documents)
        ]
        rng = random.Random(f"{self._seed}/{pair.id}")  # noqa: S311
        return rng.choice(others) if others else ()


def is_measured(pair: Pair) -> bool:
    """Whether its reference has enough steps to be made worse by degrees."""
    return pair.reference is not None and len(pair.reference.steps) >= LEAST_STEPS


def has_branches(workflow: Workflow) -> bool:
    """Whether two decisions or more have exits that can be exchanged."""
    open_ones = [
        step
        for step in workflow.of_kind(StepKind.DECISION)
        if len({edge.target for edge in workflow.exits(step.id) if edge.condition}) > 1
    ]
    return len(open_ones) >= LEAST_DECISIONS


def _judged(
    pair: Pair, variants: Mapping[str, Variant], scores: Mapping[str, Score], *, page_added: bool
) -> Judged:
    worse: dict[str, dict[int, dict[float, Score]]] = {}
    for name, variant in variants.items():
        if variant.kind:
            draws = worse.setdefault(variant.kind.value, {})
            draws.setdefault(variant.draw, {})[variant.severity] = scores[name]
    original = next(scores[name] for name, variant in variants.items() if variant.kind is None)
    return Judged(pair, original, worse, page_added)


def _documents(context: RetrievedContext) -> set[str]:
    return {
        *(hit.chunk.span.document_id for hit in context.chunks),
        *(name for hit in context.nodes for name in hit.node.document_ids),
    }


def _joined(first: RetrievedContext, second: RetrievedContext) -> RetrievedContext:
    nodes, pages = (*first.nodes, *second.nodes), (*first.pages, *second.pages)
    return second.model_copy(update={"nodes": nodes, "pages": pages})


def _with_steps(workflow: Workflow, steps: tuple[Step, ...]) -> Workflow:
    return Workflow(title=workflow.title, steps=steps, transitions=workflow.transitions)
