"""Walks over the arrows of a workflow, given as successors by step id."""

from collections.abc import Callable, Collection, Iterable, Mapping

from services.workflow.model import Transition

Successors = Mapping[str, Collection[str]]


def successors(transitions: Iterable[Transition]) -> dict[str, list[str]]:
    """Targets by source, in order, doubles included; a step without exits has no entry."""
    targets: dict[str, list[str]] = {}
    for transition in transitions:
        targets.setdefault(transition.source, []).append(transition.target)
    return targets


def reachable(
    start: str, arrows: Successors, *, passes: Callable[[str], bool] = lambda _: True
) -> set[str]:
    """Steps on paths from `start`, itself included; a step that does not pass ends its path."""
    seen = {start}
    waiting = [start]
    while waiting:
        step = waiting.pop()
        if passes(step):
            new = [target for target in arrows.get(step, ()) if target not in seen]
            seen.update(new)
            waiting.extend(new)
    return seen


def cycles(steps: Collection[str], arrows: Successors) -> list[list[str]]:
    """The strongly connected groups that hold a cycle, within `steps` and in their order."""
    inside = {s: [t for t in arrows.get(s, ()) if t in steps] for s in steps}
    sources: dict[str, list[str]] = {}
    for source, targets in inside.items():
        for target in targets:
            sources.setdefault(target, []).append(source)
    found: list[list[str]] = []
    placed: set[str] = set()
    for root in reversed(_finishing_order(inside)):
        if root in placed:
            continue
        unplaced = set(inside) - placed
        group = reachable(root, sources, passes=unplaced.__contains__) & unplaced
        placed |= group
        if len(group) > 1 or root in inside[root]:
            found.append([step for step in steps if step in group])
    return found


def _finishing_order(arrows: Successors) -> list[str]:
    """Steps in the order a depth-first walk leaves them."""
    order: list[str] = []
    seen: set[str] = set()
    for root in arrows:
        stack = [] if root in seen else [(root, iter(arrows[root]))]
        seen.add(root)
        while stack:
            step, targets = stack[-1]
            target = next((t for t in targets if t not in seen), None)
            if target is None:
                order.append(step)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(arrows[target])))
    return order
