"""Graph walks over the arrows of a workflow, represented as successors by step id."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TypeVar

from services.workflow.model import Transition

Successors = Mapping[str, Collection[str]]
Node = TypeVar("Node", bound=Hashable)


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
    places = {step: place for place, step in enumerate(inside)}
    unplaced = set(inside)
    for root in reversed(_finishing_order(inside, inside)):
        if root not in unplaced:
            continue
        group = reachable(root, sources, passes=unplaced.__contains__) & unplaced
        unplaced -= group
        if len(group) > 1 or root in inside[root]:
            groups.append(sorted(group, key=places.__getitem__))
    return groups


def immediate_dominators(start: Node, arrows: Mapping[Node, Collection[Node]]) -> dict[Node, Node]:
    """Map each node that `start` reaches to the last other one that every path to it passes.

    `start` is its own. A node comes after its dominator. (Cooper, Harvey and Kennedy, 2001: A
    Simple, Fast Dominance Algorithm.)
    """
    order = _finishing_order(arrows, (start,))[::-1]
    place = {node: number for number, node in enumerate(order)}
    sources: dict[Node, list[Node]] = {}
    for source in order:
        for target in arrows.get(source, ()):
            sources.setdefault(target, []).append(source)
    dominator = {start: start}
    is_settled = False
    while not is_settled:
        is_settled = True
        for node in order[1:]:
            one, *others = (each for each in sources[node] if each in dominator)
            for each in others:
                other = each
                while one != other:
                    if place[one] > place[other]:
                        one = dominator[one]
                    else:
                        other = dominator[other]
            if dominator.get(node) != one:
                dominator[node] = one
                is_settled = False
    return {node: dominator[node] for node in order}


def _finishing_order(arrows: Mapping[Node, Collection[Node]], roots: Iterable[Node]) -> list[Node]:
    """Return the nodes that the roots reach in the order a depth-first walk leaves them."""
    order: list[Node] = []
    seen: set[Node] = set()
    for root in roots:
        stack = [] if root in seen else [(root, iter(arrows.get(root, ())))]
        seen.add(root)
        while stack:
            node, targets = stack[-1]
            target = next((t for t in targets if t not in seen), None)
            if target is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(arrows.get(target, ()))))
    return order
