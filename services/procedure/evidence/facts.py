"""All facts of a workflow, each with the signs that speak for and against it."""

from collections.abc import Iterator, Mapping
from functools import cache

from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.procedure.evidence.signs.answers import answered, shared, terms
from services.procedure.evidence.signs.relative_place import beside, between
from services.procedure.evidence.signs.words import leads_with_condition, said, told
from services.procedure.facts import GuardFact
from services.workflow.model import Step, StepKind, Transition

Signs = Mapping[str, float]


def facts_of(drawn: Drawn) -> list[tuple[Fact, Signs]]:
    """Every fact with its signs."""
    return list(_FactReading(drawn).all())


class _FactReading:
    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn
        self._by_id = drawn.workflow.by_id
        self._of = cache(self._signs_of)

    def all(self) -> Iterator[tuple[Fact, Signs]]:
        for step in self._drawn.workflow.steps:
            if step.kind is StepKind.DECISION:
                yield Fact(FactKind.QUESTION, step.id), self._question(step)
            elif step.citations or step.kind is StepKind.PROCESS:
                yield from self._conditions(step)
            if step.citations and not self._drawn.workflow.exits(step.id):
                yield Fact(FactKind.END, step.id), self._end(step)
            for edge in self._drawn.workflow.exits(step.id):
                answer = edge.condition.strip().casefold()
                yield Fact(FactKind.ARROW, step.id, edge.target, answer), self._arrow(step, edge)

    def _conditions(self, step: Step) -> Iterator[tuple[Fact, Signs]]:
        guards = self._drawn.guards.get(step.id, frozenset())
        if not guards:
            yield Fact(FactKind.FREE, step.id), self._free(step)
        nearest = max(guards, key=self._rank_of, default=None)
        for guard in sorted(guards):
            signs = self._guard(step, guard) | {
                "guards": float(len(guards)),
                "nearest guard": float(guard == nearest),
            }
            yield Fact(FactKind.GUARD, step.id, guard.decision, guard.answer), signs

    def _rank_of(self, guard: GuardFact) -> tuple[int, GuardFact]:
        return self._drawn.ranks.get(guard.decision, -1), guard

    def _guard(self, step: Step, guard: GuardFact) -> dict[str, float]:
        drawn, question = self._drawn, self._by_id[guard.decision]
        return {
            **beside(drawn.source, drawn.lines[question.id], drawn.lines[step.id]),
            **between(drawn, question.id, step.id),
            **answered(drawn, question, step, guard.answer),
            **self._of(question.id, "question "),
            **self._of(step.id, "step "),
            "at once": float(
                any(
                    edge.target == step.id and edge.condition.strip().casefold() == guard.answer
                    for edge in drawn.workflow.exits(question.id)
                )
            ),
        }

    def _free(self, step: Step) -> dict[str, float]:
        drawn = self._drawn
        ranks = drawn.ranks
        rank = ranks.get(step.id, -9)
        neighbours = [drawn.workflow.by_id[id_] for id_ in ranks if abs(ranks[id_] - rank) == 1]
        entered = [e for e in drawn.workflow.transitions if e.target == step.id]
        return {
            **self._of(step.id, "step "),
            **self._around(step),
            "place": max(rank, 0) / max(1, len(ranks)),
            "beside a question": float(any(n.kind is StepKind.DECISION for n in neighbours)),
            "behind a question": float(
                any(self._by_id[e.source].kind is StepKind.DECISION for e in entered)
            ),
        }

    def _around(self, step: Step) -> dict[str, float]:
        """Conditions in what holds the step: list items, headings, the lines just before."""
        source, lines = self._drawn.source, self._drawn.lines[step.id]
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
        drawn, target = self._drawn, self._by_id[edge.target]
        exits = drawn.workflow.exits(step.id)
        ranks = drawn.ranks
        siblings = [ranks.get(other.target, len(ranks)) for other in exits if other != edge]
        entered = sum(other.target == target.id for other in drawn.workflow.transitions)
        found = {
            **beside(drawn.source, drawn.lines[step.id], drawn.lines[target.id]),
            **between(drawn, step.id, target.id),
            **self._of(step.id, "step "),
            **self._of(target.id, "target "),
            **self._passed_over(step, target.id),
            "guards": float(len(drawn.guards.get(step.id, ()))),
            "exits": float(len(exits)),
            "entries": float(entered),
            "nearest exit": float(ranks.get(target.id, len(ranks)) <= min(siblings, default=0)),
            "last step": float(ranks.get(step.id, -1) == len(ranks) - 1),
            "shared words": shared(terms(step.text), terms(target.text)),
        }
        return found | (answered(drawn, step, target, edge.condition) if edge.condition else {})

    def _end(self, step: Step) -> dict[str, float]:
        drawn = self._drawn
        later = [rank for rank in drawn.ranks.values() if rank > drawn.ranks.get(step.id, -1)]
        guards = drawn.guards.get(step.id, frozenset())
        return {
            **self._of(step.id, "step "),
            **self._passed_over(step, ""),
            "steps later": float(len(later)),
            "guards": float(len(guards)),
        }

    def _passed_over(self, step: Step, target: str) -> dict[str, float]:
        """The step that the page tells next, where the work does not go on with it."""
        following = self._next(step)
        if following is None or following.id == target:
            return {"passes over": 0.0}
        drawn = self._drawn
        signs = {
            **beside(drawn.source, drawn.lines[step.id], drawn.lines[following.id]),
            **self._of(following.id, ""),
        }
        return {"passes over": 1.0} | {f"passed {name}": value for name, value in signs.items()}

    def _next(self, step: Step) -> Step | None:
        ranks = self._drawn.ranks
        if step.id not in ranks:
            return None
        wanted = ranks[step.id] + 1
        return next((self._by_id[id_] for id_, rank in ranks.items() if rank == wanted), None)

    def _question(self, step: Step) -> dict[str, float]:
        drawn, own = self._drawn, terms(step.text)
        lines = drawn.lines[step.id]
        others = [other for other in drawn.workflow.steps if other is not step]
        return {
            **self._of(step.id, "question "),
            "said by its lines": shared(own, drawn.source.terms(lines)) if lines else -1.0,
            "steps of its lines": float(sum(bool(drawn.lines[o.id] & lines) for o in others)),
            "said by another step": max((shared(own, terms(o.text)) for o in others), default=0.0),
        }

    def _signs_of(self, step_id: str, whose: str) -> dict[str, float]:
        step = self._by_id[step_id]
        signs = said(self._drawn.source, self._drawn.lines[step_id]) | told(step)
        return {whose + name: value for name, value in signs.items()}
