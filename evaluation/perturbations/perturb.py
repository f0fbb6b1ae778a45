"""Workflows made worse on purpose, to see whether a scorer notices."""

import random
from collections.abc import Callable, Mapping, Sequence

from evaluation.perturbations.escalated import escalated
from evaluation.perturbations.foreign import with_foreign
from evaluation.perturbations.invented_gate import with_gate
from evaluation.perturbations.jump_lost import without_jump
from evaluation.perturbations.kinds import Perturbation, PerturbationError
from evaluation.perturbations.missing import without_some
from evaluation.perturbations.mistake import Occasions, mistaken
from evaluation.perturbations.neighbour import exchanged
from evaluation.perturbations.not_rejoined import ended
from evaluation.perturbations.precondition_lost import without_precondition
from evaluation.perturbations.reworded import reworded
from evaluation.perturbations.shuffled import shuffled
from evaluation.perturbations.stop_lost import without_stop
from evaluation.perturbations.swapped import with_swapped
from evaluation.perturbations.unguarded import unguarded
from services.workflow.model import Step, Workflow


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
