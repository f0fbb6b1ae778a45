"""What is left of a workflow while some of its decisions are answered."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from services.workflow.effects.effect import effect_of
from services.workflow.graph import reachable, successors
from services.workflow.looking import only_looks
from services.workflow.model import Step, StepKind, Transition, Workflow


class Situation:
    """A workflow with the exits that are known to hold."""

    def __init__(self, workflow: Workflow, known: Mapping[str, str]) -> None:
        """`known`: by the id of a decision the condition of the exit that holds."""
        self.workflow = workflow
        self.known = known
        self._start = workflow.steps[0].id
        self._arrows = successors(self._open(known))

    def left(self, also: Mapping[str, str] | None = None) -> set[str]:
        """Steps that may still have to be done; fewer with `also` known."""
        arrows = successors(self._open({**self.known, **also})) if also else self._arrows
        return reachable(self._start, arrows)

    def exits(self, step_id: str) -> Sequence[Transition]:
        """The ways on that are still open."""
        held = self.known.get(step_id)
        found = self.workflow.exits(step_id)
        return found if held is None else [edge for edge in found if edge.condition == held]

    @cached_property
    def at_the_start(self) -> set[str]:
        """Steps that are come to before anything has been changed: their states are there now."""
        by_id = self.workflow.by_id
        return reachable(self._start, self._arrows, passes=lambda id_: not changes(by_id[id_]))

    @cached_property
    def chances(self) -> Mapping[str, float]:
        """How likely each step is come to when all answers are alike; no loop is gone round."""
        order = self._in_order()
        place = {id_: number for number, id_ in enumerate(order)}
        chance = dict.fromkeys(order, 0.0)
        chance[self._start] = 1.0
        for id_ in order:
            onward = [to for to in self._arrows.get(id_, ()) if place[to] > place[id_]]
            for to in onward:
                chance[to] += chance[id_] / len(onward)
        return chance

    def _in_order(self) -> list[str]:
        """Each step before those it leads to, but for arrows that lead back."""
        finished: list[str] = []
        seen = {self._start}
        open_ = [(self._start, iter(self._arrows.get(self._start, ())))]
        while open_:
            id_, onward = open_[-1]
            following = next((to for to in onward if to not in seen), None)
            if following is None:
                finished.append(id_)
                open_.pop()
            else:
                seen.add(following)
                open_.append((following, iter(self._arrows.get(following, ()))))
        return finished[::-1]

    def _open(self, known: Mapping[str, str]) -> list[Transition]:
        return [
            edge
            for edge in self.workflow.transitions
            if known.get(edge.source, edge.condition) == edge.condition
        ]


def changes(step: Step) -> bool:
    """Whether an engineer who has done it may have changed something.

    What does not only look counts as a change: a question about its outcome, asked before it is
    done, would have an answer that is not true yet.
    """
    if step.kind is not StepKind.PROCESS:
        return False
    if step.commands and not step.block:
        return not all(effect_of(command).only_looks for command in step.commands)
    return not only_looks(step)
