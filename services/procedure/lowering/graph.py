"""Steps and arrows while a program is lowered; arrows may lead to names that are not placed yet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from services.workflow.model import Step, StepKind, Transition

Target = str
"""The id of a step, or a name that stands for one."""


class Graph:
    """Grows from the end of the program to its start."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self._exits: dict[str, list[tuple[str, Target]]] = {}
        self._named: dict[str, Target] = {}
        self._jumps: set[str] = set()

    def add(self, step: Step, exits: Sequence[tuple[str, Target]] = ()) -> Target:
        """Place a step with its exits, each an answer and where it leads; its id is given here."""
        id_ = f"n{len(self.steps)}"
        self.steps[id_] = step.model_copy(update={"id": id_})
        self._exits[id_] = list(exits)
        return id_

    def name(self, name: str, target: Target) -> None:
        """From now on the name stands for this."""
        self._named[name] = target

    def mark_jump(self, name: str) -> None:
        """An arrow to this name may lead back."""
        self._jumps.add(name)

    def knows(self, name: str) -> bool:
        """Whether a name stands for something."""
        return name in self._named

    def resolve(self, target: Target) -> str | None:
        """The step that a target stands for; None when it stands for nothing but itself."""
        seen: set[str] = set()
        while target in self._named and target not in seen:
            seen.add(target)
            target = self._named[target]
        return target if target in self.steps else None

    def exits(self, id_: str) -> list[tuple[str, str]]:
        """Answers and the steps they lead to; what leads nowhere is left out."""
        found = ((answer, self.resolve(target)) for answer, target in self._exits[id_])
        return [(answer, step) for answer, step in found if step is not None]

    def reachable(self, start: str) -> set[str]:
        """The steps on some path from `start`, itself included."""
        return _closure([start], {id_: [to for _, to in self.exits(id_)] for id_ in self.steps})

    def end_open_loops(self, start: str, end: str) -> None:
        """Jumps among steps from which no end can be reached lead to `end`."""
        while True:
            stuck = self._stuck(start)
            if not stuck:
                return
            jumps = [id_ for id_ in stuck if any(to in self._jumps for _, to in self._exits[id_])]
            for id_ in jumps or stuck[-1:]:
                kept = [
                    (a, end if jumps and to in self._jumps else to) for a, to in self._exits[id_]
                ]
                self._exits[id_] = kept if jumps else [("", end)]

    def _stuck(self, start: str) -> list[str]:
        here = self.reachable(start)
        back: dict[str, list[str]] = {}
        for id_ in here:
            for _, to in self.exits(id_):
                back.setdefault(to, []).append(id_)
        ends = [id_ for id_ in here if not self.exits(id_)]
        finishing = _closure(ends, back)
        return sorted(here - finishing, key=lambda id_: int(id_[1:]))

    def settle_questions(self) -> None:
        """A question whose answers all lead to one step is only something to look at."""
        for id_, step in self.steps.items():
            targets = {to for _, to in self.exits(id_)}
            if step.kind is StepKind.DECISION and len(targets) == 1:
                looked_at = {"kind": StepKind.PROCESS, "text": f"Check: {step.text}"}
                self.steps[id_] = step.model_copy(update=looked_at)
                self._exits[id_] = [("", targets.pop())]

    def in_reading_order(self, start: str) -> tuple[list[Step], list[Transition]]:
        """What can be reached, each step before those it leads to, numbered from `s1`."""
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
        """Reverse postorder; of two answers the first is told first."""
        seen = {start}
        left: list[str] = []
        open_: list[tuple[str, Iterator[str]]] = [(start, self._last_first(start))]
        while open_:
            _, successors = open_[-1]
            following = next((to for to in successors if to not in seen), None)
            if following is None:
                left.append(open_.pop()[0])
            else:
                seen.add(following)
                open_.append((following, self._last_first(following)))
        return reversed(left)

    def _last_first(self, id_: str) -> Iterator[str]:
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
