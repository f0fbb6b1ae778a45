"""View of a reading: each procedure drawn beside the lines that it was read from."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from services.contracts.planner import SERVED_BY
from services.contracts.readings import OfferedProcedure, ProcedureState, ReadingDetail
from services.runbook.checking.approvals import ApprovalUse, suffices
from services.runbook.editing.outline import Outline
from services.runbook.evidence.conditions import mark_doubts, shipped_forests
from services.runbook.lowering import lower
from services.runbook.model import Doubt, LineRange, Procedure, Reading, as_json
from services.runbook.program import extent_lines, with_ids
from services.web.ui.knowledge.readings.step_views import (
    StepMenu,
    UndrawnNode,
    build_menu,
    undrawn_nodes,
)
from services.workflow.drawing.svg import to_svg
from services.workflow.model import Provenance, Step, Workflow

_LINES_AROUND = 1


@dataclass(frozen=True)
class ShownStep:
    """A step with its number in the drawing and its lines in the page."""

    number: int
    step: Step
    lines: tuple[LineRange, ...]
    menu: StepMenu | None = None
    """Actions on the step; None for one that follows from the steps around it."""


@dataclass(frozen=True)
class ShownOffer:
    """A later reading's version of the procedure."""

    offer: OfferedProcedure
    drawing: Markup


@dataclass(frozen=True)
class ShownProcedure:
    """One procedure of a reading."""

    place: int
    procedure: Procedure
    state: ProcedureState
    first_line: int
    lines: tuple[str, ...]
    steps: tuple[ShownStep, ...]
    drawing: Markup
    doubts: tuple[Doubt, ...]
    judged: int
    """Number of steps whose conditions were judged; 0 for a procedure that a person approved."""
    doubtful: tuple[ShownStep, ...]
    """Judged steps to be checked first, the least likely one at the front."""
    offer: ShownOffer | None
    others: tuple[UndrawnNode, ...]
    """Nodes that are no step of the drawing: notes, jumps, and steps that no path reaches."""


def procedure_views(detail: ReadingDetail) -> list[ShownProcedure]:
    """Return the views of all procedures of a reading."""
    return [_procedure_view(detail, place) for place in range(len(detail.reading.procedures))]


def notation(reading: Reading) -> str:
    """Return the reading as JSON to be edited, without its reader, whom the sender determines."""
    fields = as_json(reading)
    for name in ("reader", "version", "model"):
        fields.pop(name, None)
    return json.dumps(fields, indent=2, ensure_ascii=False)


def _procedure_view(detail: ReadingDetail, place: int) -> ShownProcedure:
    procedure = detail.reading.procedures[place]
    doubts = tuple(each for each in detail.reading.doubts if each.procedure == place)
    name = next(iter(detail.documents), detail.text_hash)
    workflow = lower(procedure, name, {each.node: each.question for each in doubts})
    if not suffices(detail.states[place].kind, ApprovalUse.CONDITIONS):
        origin = Provenance(planner=SERVED_BY, reader=detail.reading.reader.value)
        signed = workflow.model_copy(update={"provenance": origin})
        workflow = mark_doubts(signed, {name: "\n".join(detail.lines)}, shipped_forests())
    steps = tuple(_shown_steps(workflow, Outline(with_ids(procedure))))
    numbers = extent_lines(procedure)
    first = max(1, min(numbers, default=1) - _LINES_AROUND)
    last = max(numbers, default=0) + _LINES_AROUND
    offers = (each for each in detail.offers if each.procedure == place)
    return ShownProcedure(
        place=place,
        procedure=procedure,
        state=detail.states[place],
        first_line=first,
        lines=detail.lines[first - 1 : last],
        steps=steps,
        drawing=_draw(workflow, place),
        doubts=doubts,
        judged=len(workflow.judged),
        doubtful=tuple(
            sorted(
                (each for each in steps if each.step.doubt and each.step.chance is not None),
                key=lambda each: each.step.chance or 0.0,
            )
        ),
        offer=next(
            (ShownOffer(each, _draw(lower(each.offered, name), each.procedure)) for each in offers),
            None,
        ),
        others=tuple(undrawn_nodes(procedure, {each.step.node for each in steps})),
    )


def _shown_steps(workflow: Workflow, outline: Outline) -> Iterator[ShownStep]:
    for number, step in enumerate(workflow.steps, start=1):
        lines = dict.fromkeys((each.start_line, each.end_line) for each in step.citations)
        menu = build_menu(outline, step.node) if step.node in outline.locations else None
        yield ShownStep(number, step, tuple(lines), menu)


def _draw(workflow: Workflow, place: int) -> Markup:
    """Draw the workflow, each step a link to its place in the list.

    The drawing's writer escapes every text in it.
    """
    numbers: Mapping[str, int] = {
        step.id: number for number, step in enumerate(workflow.steps, start=1)
    }
    return Markup(to_svg(workflow, link=lambda id_: f"#p{place}-step-{numbers[id_]}"))  # noqa: S704
