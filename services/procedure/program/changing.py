"""Changing a program: one level of it at a time, everything else as it was."""

from collections.abc import Callable

from services.procedure.model import All, Arm, Body, Choice, Guard, Loop, Node, Not, Procedure, Some

ChangeBody = Callable[[Body], Body]
ChangeArm = Callable[[Arm], Arm]


def with_bodies(node: Node, change: ChangeBody, change_arm: ChangeArm = lambda arm: arm) -> Node:
    """The node with what is directly below it changed; an arm comes before its body."""
    if isinstance(node, Loop):
        return node.model_copy(update={"body": change(node.body)})
    if not isinstance(node, Choice):
        return node
    arms = []
    for each in node.arms:
        arm = change_arm(each)
        arms.append(arm.model_copy(update={"body": change(arm.body)}))
    otherwise = None if node.otherwise is None else change(node.otherwise)
    return node.model_copy(update={"arms": tuple(arms), "otherwise": otherwise})


def is_empty(node: Node) -> bool:
    """Whether nothing is left that the node could do again."""
    return isinstance(node, Loop) and not node.body


def with_changed(procedure: Procedure, change: ChangeBody) -> Procedure:
    """The procedure with each of its bodies changed, in the order of `Procedure.bodies`."""
    return procedure.model_copy(
        update={
            "body": change(procedure.body),
            "verification": change(procedure.verification),
            "escalation": change(procedure.escalation),
            "parts": {name: change(body) for name, body in procedure.parts.items()},
        }
    )


def guards_below(guard: Guard) -> tuple[Guard, ...]:
    """The guards directly below one."""
    if isinstance(guard, All | Some):
        return guard.guards
    return (guard.guard,) if isinstance(guard, Not) else ()
