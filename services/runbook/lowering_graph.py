"""Steps and arrows during the lowering; an arrow may lead to a name that has no step yet."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from services.workflow.model import Step, StepKind, Transition

ArrowTarget = str
"""The id of a step, or a name that stands for one."""


class Graph:
    """A graph that grows from the end of the program to its start."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self._exits: dict[str, list[tuple[str, ArrowTarget]]] = {}
        self._targets: dict[str, ArrowTarget] = {}
        self._jumps: set[str] = set()

    def add(self, step: Step, exits: Sequence[tuple[str, ArrowTarget]] = ()) -> ArrowTarget:
        """Add a step with its exits, each an answer and a target; return its new id."""
        id_ = f"n{len(self.steps)}"
        self.steps[id_] = step.model_copy(update={"id": id_})
        self._exits[id_] = list(exits)
        return id_

    def set_target(self, name: str, target: ArrowTarget) -> None:
        """Let the name stand for this target from now on."""
        self._targets[name] = target

    def mark_jump(self, name: str) -> None:
        """Note that an arrow to this name may lead back."""
        self._jumps.add(name)

    def resolve(self, target: ArrowTarget) -> str | None:
        """Return the step that a target stands for; None if there is none."""
        seen: set[str] = set()
        while target in self._targets and target not in seen:
            seen.add(target)
            target = self._targets[target]
        return target if target in self.steps else None

    def exits(self, id_: str) -> list[tuple[str, str]]:
        """Return answers with their next steps; exits that lead nowhere are left out."""
        resolved = ((answer, self.resolve(target)) for answer, target in self._exits[id_])
        return [(answer, step) for answer, step in resolved if step is not None]

    def reachable(self, start: str) -> set[str]:
        """Return the steps on some path from `start`, itself included."""
        return _closure([start], {id_: [to for _, to in self.exits(id_)] for id_ in self.steps})

    def open_loops(
        self, start: str, end: str, way_out: Callable[[str, Sequence[str]], ArrowTarget]
    ) -> None:
        """Open the loops from which no end can be reached, at each jump that leads back.

        `way_out` returns the step between such a jump and its target: it takes the target and all
        steps from which no end can be reached. Names that stand for nothing lead to `end`.
        """
        for name in list(self._targets):
            if self.resolve(name) is None:
                self.set_target(name, end)
        while stuck := self._stuck(start):
            arrows = {id_: [to for _, to in self.exits(id_)] for id_ in self.steps}
            is_open = False
            for id_ in stuck:
                for n, (answer, to) in enumerate(self._exits[id_]):
                    target = self.resolve(to)
                    if target and self._is_jump(to) and id_ in _closure([target], arrows):
                        self._exits[id_][n] = answer, way_out(target, stuck)
                        is_open = True
            if not is_open:
                self._exits[stuck[-1]] = [("", end)]

    def _is_jump(self, name: str) -> bool:
        while name not in self._jumps and name in self._targets:
            name = self._targets[name]
        return name in self._jumps

    def _stuck(self, start: str) -> list[str]:
        reachable = self.reachable(start)
        back: dict[str, list[str]] = {}
        for id_ in reachable:
            for _, to in self.exits(id_):
                back.setdefault(to, []).append(id_)
        ends = [id_ for id_ in reachable if not self.exits(id_)]
        finishing = _closure(ends, back)
        return sorted(reachable - finishing, key=lambda id_: int(id_[1:]))

    def drop_needless_questions(self) -> None:
        """Turn each question whose answers all lead to one step into a check."""
        for id_, step in self.steps.items():
            targets = {to for _, to in self.exits(id_)}
            if step.kind is StepKind.DECISION and len(targets) == 1:
                check = {"kind": StepKind.PROCESS, "text": f"Check: {step.text}"}
                self.steps[id_] = step.model_copy(update=check)
                self._exits[id_] = [("", targets.pop())]

    def in_reading_order(self, start: str) -> tuple[list[Step], list[Transition]]:
        """Return the reachable steps, each before those after it, numbered from `s1`."""
        order = list(self._reading_order(start))
        numbers = {id_: f"s{place}" for place, id_ in enumerate(order, start=1)}
        steps = [self.steps[id_].model_copy(update={"id": numbers[id_]}) for id_ in order]
        arrows = [
            Transition(source=numbers[id_], target=numbers[to], condition=answer)
            for id_ in order
            for answer, to in self.exits(id_)
        ]
        return steps, arrows

    def _reading_order(self, start: str) -> Iterable[str]:
        """Return the reverse postorder; of two answers the first one comes first."""
        seen = {start}
        finished: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = [(start, self._targets_reversed(start))]
        while stack:
            _, successors = stack[-1]
            following = next((to for to in successors if to not in seen), None)
            if following is None:
                finished.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, self._targets_reversed(following)))
        return reversed(finished)

    def _targets_reversed(self, id_: str) -> Iterator[str]:
        return iter([to for _, to in reversed(self.exits(id_))])


def _closure(starts: Iterable[str], successors: Mapping[str, Sequence[str]]) -> set[str]:
    seen = set(starts)
    todo = list(seen)
    while todo:
        for following in successors.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return seen
