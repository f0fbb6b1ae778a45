"""Under which answers each step of a workflow is done, whatever else is asked on the way."""

from collections import Counter
from dataclasses import dataclass

from services.procedure.model import LineRange
from services.workflow.graph import successors
from services.workflow.model import Step, StepKind, Workflow


@dataclass(frozen=True)
class Answered:
    """An answer without which nobody comes to a step."""

    question: str
    answer: str
    node: str
    """What of the procedure asks it; empty of questions that follow from others."""
    place: int
    """Among the questions of that node, from 0."""
    lines: tuple[LineRange, ...]

    def is_same(self, other: "Answered") -> bool:
        """Whether both are asked by one node, or in the same words."""
        is_one = bool(self.node) and (self.node, self.place) == (other.node, other.place)
        return is_one or (self.question, self.answer) == (other.question, other.answer)


def conditions_of(workflow: Workflow) -> dict[str, tuple[Answered, ...]]:
    """By step id: the answers that every path from the start to it gives, the first one first."""
    if not workflow.steps:
        return {}
    answered = _answers(workflow)
    over = _dominators(workflow)
    found: dict[str, tuple[Answered, ...]] = {}
    for step in workflow.steps:
        chain: list[Answered] = []
        here = over.get(step.id)
        while here is not None:
            if here in answered:
                chain.append(answered[here])
            here = over.get(here)
        found[step.id] = tuple(reversed(chain))
    return found


def _answers(workflow: Workflow) -> dict[str, Answered]:
    """Answers by the name of the node that stands for their arrow."""
    asked: Counter[str] = Counter()
    found: dict[str, Answered] = {}
    for step in workflow.steps:
        if step.kind is not StepKind.DECISION:
            continue
        place = asked[step.node]
        asked[step.node] += 1
        for number, edge in enumerate(workflow.exits(step.id)):
            found[_arrow(step, number)] = Answered(
                question=step.text,
                answer=edge.condition,
                node=step.node,
                place=place,
                lines=tuple((cite.start_line, cite.end_line) for cite in step.citations),
            )
    return found


def _arrow(step: Step, number: int) -> str:
    return f"{step.id}>{number}"


def _dominators(workflow: Workflow) -> dict[str, str]:
    """Of each step and arrow the last one that every path to it goes through.

    After K. Cooper, T. Harvey and K. Kennedy, A Simple, Fast Dominance Algorithm.
    """
    arrows = successors(workflow.transitions)
    following: dict[str, list[str]] = {}
    for step in workflow.steps:
        following[step.id] = list(arrows.get(step.id, ()))
        if step.kind is StepKind.DECISION:
            targets = [edge.target for edge in workflow.exits(step.id)]
            names = [_arrow(step, number) for number in range(len(targets))]
            following[step.id] = names
            following |= {name: [to] for name, to in zip(names, targets, strict=True)}
    start = workflow.steps[0].id
    order = _reverse_postorder(start, following)
    places = {name: place for place, name in enumerate(order)}
    before: dict[str, list[str]] = {name: [] for name in order}
    for name in order:
        for to in following[name]:
            before[to].append(name)
    over = {start: start}
    is_settled = False
    while not is_settled:
        is_settled = True
        for name in order[1:]:
            known = [each for each in before[name] if each in over]
            new = known[0]
            for each in known[1:]:
                new = _meet(new, each, over, places)
            if over.get(name) != new:
                over[name] = new
                is_settled = False
    return {name: last for name, last in over.items() if name != start}


def _meet(one: str, other: str, over: dict[str, str], places: dict[str, int]) -> str:
    while one != other:
        while places[one] > places[other]:
            one = over[one]
        while places[other] > places[one]:
            other = over[other]
    return one


def _reverse_postorder(start: str, following: dict[str, list[str]]) -> list[str]:
    seen, left = {start}, list[str]()
    open_ = [(start, iter(following[start]))]
    while open_:
        name, targets = open_[-1]
        target = next((each for each in targets if each not in seen), None)
        if target is None:
            left.append(name)
            open_.pop()
        else:
            seen.add(target)
            open_.append((target, iter(following[target])))
    return left[::-1]
