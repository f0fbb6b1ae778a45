"""A mistake as a reader of a page makes it: wherever the workflow gives occasion to it."""

import random
from collections.abc import Callable, Iterable

from evaluation.perturbations.edit import Edit, faults, settled, share
from evaluation.perturbations.kinds import PerturbationError
from services.workflow.model import StepKind, Workflow

Occasions = Callable[[Workflow], Iterable[Edit]]
"""All ways to make the mistake once. Those that leave no sound workflow are not taken."""


def mistaken(workflow: Workflow, find: Occasions, severity: float, rng: random.Random) -> Workflow:
    """The mistake made at a share of the occasions, at least once.

    Raises:
        PerturbationError: There is no occasion.
    """
    mistaken_copy = workflow
    for _ in range(share(len(list(find(workflow))), severity)):
        worse = _once(mistaken_copy, find, rng, workflow)
        if worse is None:
            break
        mistaken_copy = worse
    if mistaken_copy is workflow:
        raise PerturbationError("the workflow gives no occasion for this mistake")
    return mistaken_copy


def once_each(workflow: Workflow, find: Occasions) -> list[Workflow]:
    """Every workflow that differs by the mistake made once."""
    copies = (settled(workflow, edit) for edit in find(workflow))
    return [copy for copy in copies if _is_sound(workflow, copy)]


def _once(
    workflow: Workflow, find: Occasions, rng: random.Random, original: Workflow
) -> Workflow | None:
    edits = list(find(workflow))
    rng.shuffle(edits)
    copies = (settled(workflow, edit) for edit in edits)
    sound = (copy for copy in copies if _is_sound(workflow, copy) and copy != original)
    return next(sound, None)


def _is_sound(workflow: Workflow, copy: Workflow) -> bool:
    """No finding of the graph is new, and no question has become an order."""
    decisions = {step.id for step in workflow.of_kind(StepKind.DECISION)} & copy.by_id.keys()
    still = {step.id for step in copy.of_kind(StepKind.DECISION)}
    return copy != workflow and decisions <= still and faults(copy) <= faults(workflow)
