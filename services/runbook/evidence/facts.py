"""All facts of a workflow, each with the features for and against it."""

from collections.abc import Iterator
from functools import cache

from services.runbook.evidence.fact import Fact, FactKind, Features
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.place_features import between_steps, relative_place
from services.runbook.evidence.word_features import (
    answer_features,
    leads_with_condition,
    line_features,
    overlap,
    step_features,
    terms,
)
from services.runbook.facts import GuardFact
from services.workflow.model import Step, StepKind, Transition

_NEAR = 200
"""Steps before and behind a question that may say the same; of more, time grows with the square."""


def facts_of(grounded: GroundedWorkflow) -> list[tuple[Fact, Features]]:
    """Return every fact with its features."""
    return list(_FactExtraction(grounded).all())


class _FactExtraction:
    def __init__(self, grounded: GroundedWorkflow) -> None:
        self._grounded = grounded
        self._by_id = grounded.workflow.by_id
        self._features_of = cache(self._own_features)
        self._places = {step.id: place for place, step in enumerate(grounded.workflow.steps)}
        self._terms = {step.id: terms(step.text) for step in grounded.workflow.steps}

    def all(self) -> Iterator[tuple[Fact, Features]]:
        for step in self._grounded.workflow.steps:
            if step.kind is StepKind.DECISION:
                yield Fact(FactKind.QUESTION, step.id), self._question(step)
            elif step.citations or step.kind is StepKind.PROCESS:
                yield from self._conditions(step)
            if step.citations and not self._grounded.workflow.exits(step.id):
                yield Fact(FactKind.END, step.id), self._end(step)
            for edge in self._grounded.workflow.exits(step.id):
                answer = edge.condition.strip().casefold()
                yield Fact(FactKind.ARROW, step.id, edge.target, answer), self._arrow(step, edge)

    def _conditions(self, step: Step) -> Iterator[tuple[Fact, Features]]:
        guards = self._grounded.guards.get(step.id, frozenset())
        if not guards:
            yield Fact(FactKind.FREE, step.id), self._free(step)
        ranks = self._grounded.ranks
        nearest = max(guards, key=lambda g: (ranks.get(g.decision, -1), g), default=None)
        for guard in sorted(guards):
            features = self._guard(step, guard) | {
                "guards": float(len(guards)),
                "nearest guard": float(guard == nearest),
            }
            yield Fact(FactKind.GUARD, step.id, guard.decision, guard.answer), features

    def _guard(self, step: Step, guard: GuardFact) -> dict[str, float]:
        grounded, question = self._grounded, self._by_id[guard.decision]
        return {
            **relative_place(grounded.pages, grounded.lines[question.id], grounded.lines[step.id]),
            **between_steps(grounded, question.id, step.id),
            **answer_features(grounded, question, step, guard.answer),
            **self._features_of(question.id, "question "),
            **self._features_of(step.id, "step "),
            "at once": float(
                any(
                    edge.target == step.id and edge.condition.strip().casefold() == guard.answer
                    for edge in grounded.workflow.exits(question.id)
                )
            ),
        }

    def _free(self, step: Step) -> dict[str, float]:
        grounded = self._grounded
        ranks = grounded.ranks
        rank = ranks.get(step.id, -9)
        around = (rank - 1, rank + 1)
        neighbours = [grounded.by_rank[each] for each in around if 0 <= each < len(ranks)]
        entered = grounded.entries.get(step.id, ())
        return {
            **self._features_of(step.id, "step "),
            **self._context(step),
            "place": max(rank, 0) / max(1, len(ranks)),
            "beside a question": float(any(n.kind is StepKind.DECISION for n in neighbours)),
            "behind a question": float(
                any(self._by_id[e.source].kind is StepKind.DECISION for e in entered)
            ),
        }

    def _context(self, step: Step) -> dict[str, float]:
        """Return conditions around the step: list items, headings, the lines before."""
        source, lines = self._grounded.pages, self._grounded.lines[step.id]
        if not lines:
            return {}
        first = min(lines)
        place = source.place(first)
        above = [item for item in place.items if item != first]
        headings = [line for line in place.sections[1:] if source.is_heading(line)]
        before = source.text(range(first - 4, first)).strip()
        return {
            "depth": float(len(place.items)),
            "condition above": float(any(leads_with_condition(source.words(i)) for i in above)),
            "condition in a heading": float(
                any(leads_with_condition(source.words(line)) for line in headings)
            ),
            "condition before": float(
                before.endswith(":")
                and any(f" {w} " in f" {before} " for w in ("if", "If", "when"))
            ),
        }

    def _arrow(self, step: Step, edge: Transition) -> dict[str, float]:
        grounded, target = self._grounded, self._by_id[edge.target]
        exits = grounded.workflow.exits(step.id)
        ranks = grounded.ranks
        siblings = [ranks.get(other.target, len(ranks)) for other in exits if other != edge]
        entered = len(grounded.entries.get(target.id, ()))
        features = {
            **relative_place(grounded.pages, grounded.lines[step.id], grounded.lines[target.id]),
            **between_steps(grounded, step.id, target.id),
            **self._features_of(step.id, "step "),
            **self._features_of(target.id, "target "),
            **self._skipped_step(step, target.id),
            "guards": float(len(grounded.guards.get(step.id, ()))),
            "exits": float(len(exits)),
            "entries": float(entered),
            "nearest exit": float(ranks.get(target.id, len(ranks)) <= min(siblings, default=0)),
            "last step": float(ranks.get(step.id, -1) == len(ranks) - 1),
            "shared words": overlap(terms(step.text), terms(target.text)),
        }
        return features | (
            answer_features(grounded, step, target, edge.condition) if edge.condition else {}
        )

    def _end(self, step: Step) -> dict[str, float]:
        grounded = self._grounded
        later = len(grounded.ranks) - 1 - grounded.ranks.get(step.id, -1)
        guards = grounded.guards.get(step.id, frozenset())
        return {
            **self._features_of(step.id, "step "),
            **self._skipped_step(step, ""),
            "steps later": float(later),
            "guards": float(len(guards)),
        }

    def _skipped_step(self, step: Step, target: str) -> dict[str, float]:
        """Return features of the page's next step if the work does not go on with it."""
        ranks = self._grounded.ranks
        grounded = self._grounded
        next_rank = ranks[step.id] + 1 if step.id in ranks else len(ranks)
        if next_rank == len(ranks) or grounded.by_rank[next_rank].id == target:
            return {"passes over": 0.0}
        following = grounded.by_rank[next_rank]
        features = {
            **relative_place(grounded.pages, grounded.lines[step.id], grounded.lines[following.id]),
            **self._features_of(following.id, ""),
        }
        return {"passes over": 1.0} | {f"passed {name}": value for name, value in features.items()}

    def _question(self, step: Step) -> dict[str, float]:
        grounded, own = self._grounded, terms(step.text)
        lines, steps = grounded.lines[step.id], grounded.workflow.steps
        at = self._places[step.id]
        others = (*steps[max(0, at - _NEAR) : at], *steps[at + 1 : at + 1 + _NEAR])
        return {
            **self._features_of(step.id, "question "),
            "said by its lines": overlap(own, grounded.pages.terms(lines)) if lines else -1.0,
            "steps of its lines": float(max(0, len(grounded.citing_any(lines)) - 1)),
            "said by another step": max(
                (overlap(own, self._terms[other.id]) for other in others), default=0.0
            ),
        }

    def _own_features(self, step_id: str, prefix: str) -> dict[str, float]:
        step = self._by_id[step_id]
        features = line_features(
            self._grounded.pages, self._grounded.lines[step_id]
        ) | step_features(step)
        return {prefix + name: value for name, value in features.items()}
