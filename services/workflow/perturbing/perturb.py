"""Workflows made worse on purpose, to see whether a scorer notices."""

import random
from collections.abc import Callable, Mapping, Sequence

from services.workflow.model import Step, Workflow
from services.workflow.perturbing.escalated import escalated
from services.workflow.perturbing.foreign import with_foreign
from services.workflow.perturbing.invented_gate import with_gate
from services.workflow.perturbing.jump_lost import without_jump
from services.workflow.perturbing.kinds import Perturbation, PerturbationError
from services.workflow.perturbing.missing import without_some
from services.workflow.perturbing.mistake import Occasions, mistaken
from services.workflow.perturbing.neighbour import exchanged
from services.workflow.perturbing.not_rejoined import ended
from services.workflow.perturbing.precondition_lost import without_precondition
from services.workflow.perturbing.reworded import reworded
from services.workflow.perturbing.shuffled import shuffled
from services.workflow.perturbing.stop_lost import without_stop
from services.workflow.perturbing.swapped import with_swapped
from services.workflow.perturbing.unguarded import unguarded


def perturb(
    workflow: Workflow,
    kind: Perturbation,
    severity: float,
    rng: random.Random,
    foreign_steps: Sequence[Step] = (),
) -> Workflow:
    """A copy with a share of its steps perturbed, at least one; `severity` is above 0, at most 1.

    The same `rng` state gives the same result. The graph stays valid: a step without exits is a
    terminal, and a workflow that was structurally lint-clean still is.

    Raises:
        PerturbationError: The workflow gives no occasion for this kind, or no foreign steps are
            given.
    """
    if not 0 < severity <= 1:
        raise PerturbationError(f"severity must be above 0 and at most 1, got {severity!r}")
    if not workflow.steps:
        raise PerturbationError("a workflow without steps cannot be made worse")
    if kind is Perturbation.FOREIGN:
        return with_foreign(workflow, severity, rng, foreign_steps)
    if kind in _MISTAKES:
        return mistaken(workflow, _MISTAKES[kind], severity, rng)
    return _TO_STEPS[kind](workflow, severity, rng)


_TO_STEPS: Mapping[Perturbation, Callable[[Workflow, float, random.Random], Workflow]] = {
    Perturbation.MISSING: without_some,
    Perturbation.SHUFFLED: shuffled,
    Perturbation.REWORDED: reworded,
    Perturbation.SWAPPED: with_swapped,
}
_MISTAKES: Mapping[Perturbation, Occasions] = {
    Perturbation.UNGUARDED: unguarded,
    Perturbation.ESCALATED: escalated,
    Perturbation.PRECONDITION_LOST: without_precondition,
    Perturbation.STOP_LOST: without_stop,
    Perturbation.JUMP_LOST: without_jump,
    Perturbation.NEIGHBOUR: exchanged,
    Perturbation.NOT_REJOINED: ended,
    Perturbation.INVENTED_GATE: with_gate,
}
