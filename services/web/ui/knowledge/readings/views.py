"""View of a reading: each procedure drawn beside the lines that it was read from."""

import json
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from services.contracts.readings import OfferedProcedure, ProcedureState, ReadingDetail
from services.runbook.evidence.conditions import without_doubts
from services.runbook.lowering import lower
from services.runbook.model import Doubt, LineRange, Procedure, Reading, as_json
from services.runbook.ports import ApprovalKind
from services.runbook.program import extent_lines
from services.workflow.drawing.svg import StepLink, to_svg
from services.workflow.model import Step, Workflow

_LINES_AROUND = 1


@dataclass(frozen=True)
class ShownStep:
    """A step with its number in the drawing and its lines in the page."""

    number: int
    step: Step
    lines: tuple[LineRange, ...]


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
    workflow: Workflow
    steps: tuple[ShownStep, ...]
    doubts: tuple[Doubt, ...]
    offer: ShownOffer | None

    @cached_property
    def drawing(self) -> Markup:
        """The workflow, each step a link to its place in the list."""
        numbers = {each.step.id: each.number for each in self.steps}
        return draw(self.workflow, lambda id_: f"#p{self.place}-step-{numbers[id_]}")


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
    kind = detail.states[place].kind
    if kind is not None and kind.includes(ApprovalKind.WORKFLOW):
        workflow = without_doubts(workflow)
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
        workflow=workflow,
        steps=tuple(
            ShownStep(
                number,
                step,
                tuple(dict.fromkeys((each.start_line, each.end_line) for each in step.citations)),
            )
            for number, step in enumerate(workflow.steps, start=1)
        ),
        doubts=doubts,
        offer=next(
            (
                ShownOffer(each, draw(lower(each.offered, name), lambda _: f"#p{place}"))
                for each in offers
            ),
            None,
        ),
    )


def draw(workflow: Workflow, link: StepLink) -> Markup:
    """Draw a workflow; the drawing's writer escapes every text in it."""
    return Markup(to_svg(workflow, link=link))  # noqa: S704
