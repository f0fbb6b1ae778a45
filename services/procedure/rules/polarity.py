"""Questions are asked without `not`, so that Yes and No mean what they say."""

from services.language.questions import affirmed
from services.procedure.model import (
    All,
    Arm,
    Choice,
    Guard,
    Loop,
    Node,
    Not,
    Some,
    State,
)


def affirmative(node: Node) -> Node:
    """`Is the pod not running?` of a choice or loop as the denial of `Is the pod running?`."""
    if isinstance(node, Loop):
        return node.model_copy(update={"until": _affirmed(node.until)})
    if not isinstance(node, Choice) or node.question:
        return node
    return node.model_copy(update={"arms": tuple(map(_of_arm, node.arms))})


def _of_arm(arm: Arm) -> Arm:
    return arm.model_copy(update={"guard": _affirmed(arm.guard)}) if arm.guard else arm


def _affirmed(guard: Guard) -> Guard:
    match guard:
        case State():
            text = affirmed(guard.text)
            return Not(guard=State(text=text)) if text else guard
        case Not(guard=State() as state):
            text = affirmed(state.text)
            return State(text=text) if text else guard
        case Not():
            return Not(guard=_affirmed(guard.guard))
        case All() | Some():
            return guard.model_copy(update={"guards": tuple(map(_affirmed, guard.guards))})
        case _:
            return guard
