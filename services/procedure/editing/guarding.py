"""What becomes of a condition that is there: another one, its contrary, or none."""

from services.procedure.editing.errors import WrongKindError
from services.procedure.editing.operations import ChangeGuard, How
from services.procedure.editing.program import OTHERWISE, Found, Outline, rewritten
from services.procedure.model import (
    Arm,
    Body,
    Choice,
    Guard,
    Loop,
    Mode,
    Node,
    Not,
    Procedure,
)


def guard_changed(outline: Outline, operation: ChangeGuard, how: How) -> Procedure:
    """The procedure with the condition changed, negated or taken away.

    Raises:
        WrongKindError: There is no condition there, or it is an answer to a question.
        UnknownNodeError: There is no such node.
    """
    if len(operation.nodes) > 1:
        raise WrongKindError("conditions are changed one by one: name one arm, loop or step")
    found = outline[operation.nodes[0]]
    if isinstance(found.thing, Loop) and how is not How.REMOVE:
        return _with_until(outline, found.thing, operation, how)
    if how is How.REMOVE and not isinstance(found.thing, Arm | Choice):
        return _freed_step(outline, found)
    arm = _arm(outline, found)
    choice = outline.choice_of(outline.found[arm.id])
    if how is How.REMOVE:
        return _freed(outline, choice, arm)
    if how is How.NEGATE:
        guard = _contrary(_guard(choice, arm))
    elif operation.when is not None:
        guard = operation.when
    else:
        raise WrongKindError("expected a condition in `when`")
    lines = arm.lines if operation.lines is None else operation.lines
    update = {"guard": guard, "lines": lines, "confidence": 1.0}
    return _with_arm(outline, arm.id, arm.model_copy(update=update))


def _arm(outline: Outline, found: Found) -> Arm:
    """The arm whose condition is meant: itself, that of a choice with one, that over a step."""
    if isinstance(found.thing, Arm):
        return found.thing
    if isinstance(found.thing, Choice):
        if len(found.thing.arms) > 1:
            arms = ", ".join(arm.id for arm in found.thing.arms)
            raise WrongKindError(f"{found.thing.id} has several conditions: name one of {arms}")
        return found.thing.arms[0]
    over = outline.found.get(found.body.removesuffix(OTHERWISE))
    if found.body.endswith(OTHERWISE) and over is not None:
        raise WrongKindError(
            f"{found.thing.id} is done when no condition of {over.thing.id} holds: change that, "
            "or move the step"
        )
    if over is None or not isinstance(over.thing, Arm):
        raise WrongKindError(f"{found.thing.id} stands directly under no condition")
    return over.thing


def _with_until(outline: Outline, loop: Loop, operation: ChangeGuard, how: How) -> Procedure:
    until = _contrary(loop.until) if how is How.NEGATE else operation.when
    lines = loop.lines if operation.lines is None else operation.lines
    now = loop.model_copy(update={"until": until, "lines": lines, "confidence": 1.0})
    return rewritten(outline.procedure, node=lambda each: (now,) if each.id == loop.id else (each,))


def _freed_step(outline: Outline, found: Found) -> Procedure:
    """A step out of its arm: all that the arm has, or its first or last step."""
    arm = _arm(outline, found)
    choice = outline.choice_of(outline.found[arm.id])
    if len(arm.body) == 1:
        return _freed(outline, choice, arm)
    node = arm.body[found.at]
    is_first = found.at == 0
    if not is_first and found.at != len(arm.body) - 1:
        raise WrongKindError(
            f"{node.id} stands between other steps under its condition: take it away from all of "
            f"them ({arm.id}), or move the step"
        )
    left = tuple(each for each in arm.body if each.id != node.id)
    now = _with(choice, arm.id, arm.model_copy(update={"body": left}))
    return _replaced(outline, choice, (node, now) if is_first else (now, node))


def _freed(outline: Outline, choice: Choice, arm: Arm) -> Procedure:
    """What an arm has is done always; whatever hung on its No still does."""
    guard = _guard(choice, arm)
    if choice.mode is not Mode.EXCLUSIVE and len(choice.arms) > 1:
        return _with_arm(outline, arm.id, arm.model_copy(update={"guard": None, "confidence": 1.0}))
    left: Node | None
    if len(choice.arms) == 1 and not choice.otherwise:
        left = None
    elif len(choice.arms) == 1 and choice.otherwise:
        contrary = arm.model_copy(update={"guard": _contrary(guard), "body": choice.otherwise})
        left = choice.model_copy(update={"arms": (contrary,), "otherwise": None})
    elif arm.id == choice.arms[-1].id and choice.otherwise is None:
        left = choice.model_copy(update={"arms": choice.arms[:-1]})
    else:  # the conditions after it hold only where it does not
        left = _with(choice, arm.id, arm.model_copy(update={"body": ()}))
    return _replaced(outline, choice, arm.body if left is None else (*arm.body, left))


def _guard(choice: Choice, arm: Arm) -> Guard:
    if choice.question:
        raise WrongKindError(
            f"{arm.id} is an answer to {choice.question!r}: give it another one, or move its steps"
        )
    if arm.guard is None:
        raise WrongKindError(f"{arm.id} has no condition")
    return arm.guard


def _contrary(guard: Guard) -> Guard:
    return guard.guard if isinstance(guard, Not) else Not(guard=guard)


def _with(choice: Choice, arm_id: str, arm: Arm) -> Choice:
    arms = tuple(arm if each.id == arm_id else each for each in choice.arms)
    return choice.model_copy(update={"arms": arms})


def _with_arm(outline: Outline, arm_id: str, arm: Arm) -> Procedure:
    return rewritten(outline.procedure, arm=lambda each: (arm,) if each.id == arm_id else (each,))


def _replaced(outline: Outline, choice: Choice, body: Body) -> Procedure:
    return rewritten(outline.procedure, node=lambda each: body if each.id == choice.id else (each,))
