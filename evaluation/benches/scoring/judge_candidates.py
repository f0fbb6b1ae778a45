"""What the scorer is shown of a drawn page: right, made worse on purpose, and as others read it."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from evaluation.material.logic_rows import GoldGraph, GoldNode, LogicRow
from evaluation.measures.harm import guard_harm, harm
from evaluation.perturbations.kinds import Perturbation, PerturbationError
from evaluation.perturbations.mistake import once_each
from evaluation.perturbations.perturb import perturb
from evaluation.perturbations.unguarded import unguarded
from services.runbook.ports import ReadingState
from services.workflow.model import Citation, Provenance, Step, StepKind, Transition, Workflow

REFERENCE, OLD, RECORDED = "reference", "old", "recorded"
ONE_GUARD, NEAR, FAR = "one guard", "near page", "far page"
BESIDE = "reference beside"
"""The reference again, with the pages of others in the context."""

_LEAST = 1e-6
"""The severity at which a mistake is made once."""


@dataclass(frozen=True)
class Shown:
    """A workflow that the scorer is shown, and where it comes from."""

    origin: str
    """A reader, a kind of perturbation, or another page."""
    workflow: Workflow
    severity: float = 0.0
    draw: int = 0
    harm: float = 0.0


def reference_of(row: LogicRow) -> Workflow:
    """The drawing as a workflow that cites the lines its nodes stand for."""
    drawn = row.reference or GoldGraph(nodes=())
    return Workflow(
        title=row.title or row.page,
        steps=tuple(_step(row, node) for node in drawn.nodes),
        transitions=tuple(
            Transition(source=edge.source, target=edge.target, condition=edge.label)
            for edge in drawn.edges
        ),
    )


def checked(reference: Workflow) -> Workflow:
    """A drawing stands for a reading that a person has checked."""
    signed = Provenance(planner="extractive", state=ReadingState.APPROVED.value)
    return reference.model_copy(update={"provenance": signed})


def perturbed(
    row: LogicRow, foreign: Sequence[Step], severities: Sequence[float], draws: int, seed: int
) -> Iterator[Shown]:
    """Every kind at every severity, where the reference gives occasion, and one wrong guard."""
    reference = reference_of(row)
    for kind in Perturbation:
        for severity in severities:
            for draw in range(draws):
                rng = random.Random(f"{seed}/{row.id}/{kind}/{severity}/{draw}")  # noqa: S311
                try:
                    worse = perturb(reference, kind, severity, rng, foreign)
                except PerturbationError:
                    continue
                yield Shown(kind.value, worse, severity, draw, harm(reference, worse))
    yield from one_guard_wrong(reference, random.Random(f"{seed}/{row.id}"))  # noqa: S311


def one_guard_wrong(reference: Workflow, rng: random.Random) -> Iterator[Shown]:
    """The copy with the fewest wrong guards: a step before its question, or a swapped answer."""
    copies = once_each(reference, unguarded)
    with suppress(PerturbationError):
        copies.append(perturb(reference, Perturbation.SWAPPED, _LEAST, rng))
    wrong = [(number, copy) for copy in copies if (number := guard_harm(reference, copy))]
    if wrong:
        least = min(number for number, _ in wrong)
        worse = rng.choice([copy for number, copy in wrong if number == least])
        yield Shown(ONE_GUARD, worse, harm=harm(reference, worse))


def made_by_readers(readers: Mapping[str, Workflow | None]) -> Iterator[Shown]:
    """What others made of the page, where they made anything; by the name of the reader."""
    for name, workflow in readers.items():
        if workflow and workflow.steps:
            yield Shown(name, workflow)


def _step(row: LogicRow, node: GoldNode) -> Step:
    lines = node.lines or ()
    return Step(
        id=node.id,
        kind=StepKind(node.kind),
        text=node.label,
        citations=tuple(
            Citation(document_id=row.page, start_line=first, end_line=last) for first, last in lines
        ),
        implied=not lines,
    )
