"""Graph walks over the arrows of a workflow, represented as successors by step id."""

from collections.abc import Callable, Collection, Iterable, Mapping

from services.workflow.model import Transition

Successors = Mapping[str, Collection[str]]


def successors(transitions: Iterable[Transition]) -> dict[str, list[str]]:
    """Map each source to its targets, in order, duplicates included; final steps have no entry."""
    targets: dict[str, list[str]] = {}
    for transition in transitions:
        targets.setdefault(transition.source, []).append(transition.target)
    return targets


def reachable(
    start: str, arrows: Successors, *, passes: Callable[[str], bool] = lambda _: True
) -> set[str]:
    """Return steps on paths from `start`, itself included; a step that fails `passes` ends one."""
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
    """Return the strongly connected groups that contain a cycle, within `steps`, in their order."""
    inside = {s: [t for t in arrows.get(s, ()) if t in steps] for s in steps}
    sources: dict[str, list[str]] = {}
    for source, targets in inside.items():
        for target in targets:
            sources.setdefault(target, []).append(source)
    groups: list[list[str]] = []
    placed: set[str] = set()
    for root in reversed(_finishing_order(inside)):
        if root in placed:
            continue
        unplaced = set(inside) - placed
        group = reachable(root, sources, passes=unplaced.__contains__) & unplaced
        placed |= group
        if len(group) > 1 or root in inside[root]:
            groups.append([step for step in steps if step in group])
    return groups


def _finishing_order(arrows: Successors) -> list[str]:
    """Return the steps in the order a depth-first walk leaves them."""
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
