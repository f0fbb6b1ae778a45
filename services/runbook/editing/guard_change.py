"""Changes of an existing condition: another one, its negation, or none."""

from services.runbook.editing.errors import WrongKindError
from services.runbook.editing.operations import ChangeGuard, How
from services.runbook.editing.outline import Location, Outline
from services.runbook.model import (
    OTHERWISE,
    Arm,
    Choice,
    Guard,
    Loop,
    Mode,
    Node,
    Not,
    Procedure,
)


def change_guard(outline: Outline, operation: ChangeGuard, how: How) -> Procedure:
    """Return the procedure with the condition changed, negated or removed.

    Raises:
        WrongKindError: There is no condition there, or it is an answer to a question.
        UnknownNodeError: There is no such node.
    """
    if len(operation.nodes) > 1:
        raise WrongKindError("conditions are changed one by one: name one arm, loop or step")
    location = outline[operation.nodes[0]]
    loop = location.thing
    if isinstance(loop, Loop) and how is not How.REMOVE:
        until = _negation(loop.until) if how is How.NEGATE else operation.when
        lines = loop.lines if operation.lines is None else operation.lines
        update = {"until": until, "lines": lines, "confidence": 1.0}
        return outline.replace(loop.id, loop.model_copy(update=update))
    if how is How.REMOVE and not isinstance(location.thing, Arm | Choice):
        return _free_step(outline, location)
    arm = _arm_of(outline, location)
    choice = outline.choice_of(outline.locations[arm.id])
    if how is How.REMOVE:
        return _free_arm(outline, choice, arm)
    if how is How.NEGATE:
        guard = _negation(_guard(choice, arm))
    elif operation.when is not None:
        guard = operation.when
    else:
        raise WrongKindError("expected a condition in `when`")
    lines = arm.lines if operation.lines is None else operation.lines
    update = {"guard": guard, "lines": lines, "confidence": 1.0}
    return outline.replace(arm.id, arm.model_copy(update=update))


def _arm_of(outline: Outline, location: Location) -> Arm:
    """Return the arm itself, the only arm of a choice, or the arm directly above a step."""
    if isinstance(location.thing, Arm):
        return location.thing
    if isinstance(location.thing, Choice):
        if len(location.thing.arms) > 1:
            arms = ", ".join(arm.id for arm in location.thing.arms)
            raise WrongKindError(f"{location.thing.id} has several conditions: name one of {arms}")
        return location.thing.arms[0]
    owner = outline.locations.get(location.body.removesuffix(OTHERWISE))
    if location.body.endswith(OTHERWISE) and owner is not None:
        raise WrongKindError(
            f"{location.thing.id} is done when no condition of {owner.thing.id} holds: change that,"
            " or move the step"
        )
    if owner is None or not isinstance(owner.thing, Arm):
        raise WrongKindError(f"{location.thing.id} stands directly under no condition")
    return owner.thing


def _free_step(outline: Outline, location: Location) -> Procedure:
    """Take a step out of its arm: the arm's only step, its first or its last."""
    arm = _arm_of(outline, location)
    choice = outline.choice_of(outline.locations[arm.id])
    if len(arm.body) == 1:
        return _free_arm(outline, choice, arm)
    node = arm.body[location.at]
    is_first = location.at == 0
    if not is_first and location.at != len(arm.body) - 1:
        raise WrongKindError(
            f"{node.id} stands between other steps under its condition: take it away from all of "
            f"them ({arm.id}), or move the step"
        )
    left = tuple(each for each in arm.body if each.id != node.id)
    now = _with_arm_replaced(choice, arm.id, arm.model_copy(update={"body": left}))
    return outline.replace(choice.id, (node, now) if is_first else (now, node))


def _free_arm(outline: Outline, choice: Choice, arm: Arm) -> Procedure:
    """Do the steps of an arm always; steps under its No keep their condition."""
    guard = _guard(choice, arm)
    if choice.mode is not Mode.EXCLUSIVE and len(choice.arms) > 1:
        return outline.replace(arm.id, arm.model_copy(update={"guard": None, "confidence": 1.0}))
    left: Node | None
    if len(choice.arms) == 1 and not choice.otherwise:
        left = None
    elif len(choice.arms) == 1 and choice.otherwise:
        contrary = arm.model_copy(update={"guard": _negation(guard), "body": choice.otherwise})
        left = choice.model_copy(update={"arms": (contrary,), "otherwise": None})
    elif arm.id == choice.arms[-1].id and choice.otherwise is None:
        left = choice.model_copy(update={"arms": choice.arms[:-1]})
    else:  # the conditions after it hold only where it does not
        left = _with_arm_replaced(choice, arm.id, arm.model_copy(update={"body": ()}))
    return outline.replace(choice.id, arm.body if left is None else (*arm.body, left))


def _guard(choice: Choice, arm: Arm) -> Guard:
    if choice.question:
        raise WrongKindError(
            f"{arm.id} is an answer to {choice.question!r}: give it another one, or move its steps"
        )
    if arm.guard is None:
        raise WrongKindError(f"{arm.id} has no condition")
    return arm.guard


def _negation(guard: Guard) -> Guard:
    return guard.guard if isinstance(guard, Not) else Not(guard=guard)


def _with_arm_replaced(choice: Choice, arm_id: str, arm: Arm) -> Choice:
    arms = tuple(arm if each.id == arm_id else each for each in choice.arms)
    return choice.model_copy(update={"arms": arms})
