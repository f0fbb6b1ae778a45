"""Parameters of a procedure: literals become placeholders, placeholders get values."""

import re
from collections.abc import Callable

from services.runbook.editing.errors import NothingChangedError
from services.runbook.editing.operations import SetParameter
from services.runbook.editing.outline import Outline
from services.runbook.model import (
    All,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Guard,
    Loop,
    Node,
    Not,
    Outcome,
    Procedure,
    Remark,
    Some,
    State,
)
from services.workflow.commands import fill, placeholder_name

ChangeText = Callable[[str], str]


def with_parameter(outline: Outline, operation: SetParameter) -> Procedure:
    """Return the procedure with a literal or placeholder replaced wherever it occurs.

    In texts, commands and conditions; output that the page shows stays as it is.

    Raises:
        NothingChangedError: No text has it.
        UnknownNodeError: A node that is named is not there.
    """
    name = operation.name.strip("<>")
    literal = re.compile(rf"(?<![\w.<-]){re.escape(operation.literal or '')}(?!\w|[./:-]\w)")
    named = {outline[ref].thing.id for ref in operation.nodes or ()}
    below = {id_ for id_, each in outline.locations.items() if named.intersection(each.above)}
    targets = named | below if operation.nodes is not None else set(outline.locations)

    def change(text: str) -> str:
        if operation.value is not None:
            return fill(text, {placeholder_name(name): operation.value})
        return literal.sub(lambda _: f"<{name}>", text)

    def node(each: Node) -> Body:
        return (_node(each, change),) if each.id in targets else (each,)

    def arm(each: Arm) -> Arm:
        if each.guard is None or each.id not in targets:
            return each
        return each.model_copy(update={"guard": _guard(each.guard, change)})

    now = outline.procedure.map(node=node, arm=arm)
    if now == outline.procedure:
        missing = operation.literal if operation.literal is not None else f"<{name}>"
        raise NothingChangedError(f"no step or condition that is meant says {missing!r}")
    return now


def _node(node: Node, change: ChangeText) -> Node:
    match node:
        case Do() | End():
            commands = tuple(map(change, node.commands))
            return node.model_copy(update={"text": change(node.text), "commands": commands})
        case Remark():
            return node.model_copy(update={"text": change(node.text)})
        case Choice():
            return node.model_copy(update={"question": change(node.question)})
        case Loop():
            return node.model_copy(update={"until": _guard(node.until, change)})
    return node


def _guard(guard: Guard, change: ChangeText) -> Guard:
    match guard:
        case State() | Outcome():
            return guard.model_copy(update={"text": change(guard.text)})
        case Not():
            return guard.model_copy(update={"guard": _guard(guard.guard, change)})
        case All() | Some():
            guards = tuple(_guard(each, change) for each in guard.guards)
            return guard.model_copy(update={"guards": guards})
