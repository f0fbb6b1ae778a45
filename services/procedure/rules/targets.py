"""Jumps lead to nodes: whatever a jump names gets an id, a jump to nowhere becomes a step."""

from collections.abc import Callable

from services.procedure.model import Body, Choice, Jump, Loop, Node, Procedure


def settled(procedure: Procedure) -> Procedure:
    """The procedure with ids at what is jumped to, and without jumps that lead nowhere."""
    wanted = {node.target for node in procedure.walk() if isinstance(node, Jump)}
    ids = {target: _first_in(procedure, target) for target in wanted}

    def name(node: Node) -> Node | None:
        if isinstance(node, Jump):
            place = ids.get(node.target)
            return node.model_copy(update={"target": _id(place)}) if place else None
        line = node.lines[0][0] if getattr(node, "lines", ()) else 0
        named = line in ids.values() and not node.id and line not in used
        if named:
            used.add(line)
            return node.model_copy(update={"id": _id(line)})
        return node

    used: set[int] = set()
    if not wanted:
        return procedure
    bodies = {
        key: mapped(getattr(procedure, key), name) for key in ("body", "verification", "escalation")
    }
    return procedure.model_copy(update=bodies)


def _id(line: int | None) -> str:
    return f"line-{line}"


def _first_in(procedure: Procedure, target: str) -> int | None:
    """The line of the first node that stands within the lines of the target."""
    first, last = (int(each) for each in target.split("-"))
    for node in procedure.walk():
        lines = node.lines
        if lines and first <= lines[0][0] <= last and not isinstance(node, Jump):
            return lines[0][0]
    return None


def mapped(body: Body, change: Callable[[Node], Node | None]) -> Body:
    """The body with each node changed, outer ones first; None leaves a node out."""
    found: list[Node] = []
    for node in body:
        made = change(node)
        if isinstance(made, Choice):
            arms = tuple(
                arm.model_copy(update={"body": mapped(arm.body, change)}) for arm in made.arms
            )
            other = None if made.otherwise is None else mapped(made.otherwise, change)
            made = made.model_copy(update={"arms": arms, "otherwise": other})
        elif isinstance(made, Loop):
            made = made.model_copy(update={"body": mapped(made.body, change)})
        if made is not None:
            found.append(made)
    return tuple(found)
