"""A reading as its page shows it: each procedure drawn beside the lines that tell it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup

from services.contracts.planner import SERVED_BY
from services.contracts.readings import OfferedProcedure, ProcedureState, ReadingDetail
from services.gateway.ui.knowledge.readings.steps.views import StepMenu, Written, menu_of, written
from services.procedure.editing.apply import with_ids
from services.procedure.editing.program import Outline
from services.procedure.evidence.conditions import ConditionForests
from services.procedure.evidence.marking import marked
from services.procedure.lowering import lower
from services.procedure.model import Doubt, LineRange, Procedure, Reading, as_json
from services.procedure.program.cited_lines import where
from services.workflow.drawing.svg import to_svg
from services.workflow.model import Provenance, Step, Workflow

_LINES_AROUND = 1


@dataclass(frozen=True)
class ShownStep:
    """A step with its place in the drawing and its lines in the page."""

    number: int
    step: Step
    lines: tuple[LineRange, ...]
    menu: StepMenu | None = None
    """What can be done about it; None of what follows from the steps around."""


@dataclass(frozen=True)
class ShownOffer:
    """What a later reading says instead."""

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
    """Steps whose conditions were judged; none of a procedure that a person approved."""
    doubtful: tuple[ShownStep, ...]
    """Of these, those to be looked at first, the least likely one before the others."""
    offer: ShownOffer | None
    others: tuple[Written, ...]
    """What is written and is no step of the drawing: notes, jumps, what no path leads to."""


def procedure_views(detail: ReadingDetail) -> list[ShownProcedure]:
    """All procedures of a reading."""
    return [_procedure(detail, place) for place in range(len(detail.reading.procedures))]


def notation(reading: Reading) -> str:
    """What is stored, to be edited: who read it is told by who sends it."""
    told = as_json(reading)
    for name in ("reader", "version", "model"):
        told.pop(name, None)
    return json.dumps(told, indent=2, ensure_ascii=False)


def _procedure(detail: ReadingDetail, place: int) -> ShownProcedure:
    procedure = detail.reading.procedures[place]
    doubts = tuple(each for each in detail.reading.doubts if each.procedure == place)
    name = next(iter(detail.documents), detail.text_hash)
    drawn = lower(procedure, name, {each.node: each.question for each in doubts})
    workflow = drawn if detail.states[place].by else _judged(drawn, detail, name)
    steps = tuple(_steps(workflow, Outline(with_ids(procedure))))
    first, lines = _told(detail.lines, procedure)
    offers = (each for each in detail.offers if each.procedure == place)
    return ShownProcedure(
        place=place,
        procedure=procedure,
        state=detail.states[place],
        first_line=first,
        lines=lines,
        steps=steps,
        drawing=_drawn(workflow, place),
        doubts=doubts,
        judged=len(workflow.judged),
        doubtful=tuple(sorted(filter(_is_doubtful, steps), key=_chance)),
        offer=next((_offered(each, name) for each in offers), None),
        others=tuple(written(procedure, {each.step.node for each in steps})),
    )


def _judged(workflow: Workflow, detail: ReadingDetail, name: str) -> Workflow:
    origin = Provenance(planner=SERVED_BY, reader=detail.reading.reader.value)
    signed = workflow.model_copy(update={"provenance": origin})
    return marked(signed, {name: "\n".join(detail.lines)}, _forests())


@cache
def _forests() -> ConditionForests:
    return ConditionForests.shipped()


def _is_doubtful(shown: ShownStep) -> bool:
    return bool(shown.step.doubt) and shown.step.chance is not None


def _chance(shown: ShownStep) -> float:
    return shown.step.chance or 0.0


def _told(lines: Sequence[str], procedure: Procedure) -> tuple[int, tuple[str, ...]]:
    """The number of the first line that tells a procedure, and the lines from there on."""
    told = where(procedure)
    first = max(1, min(told, default=1) - _LINES_AROUND)
    return first, tuple(lines[first - 1 : max(told, default=0) + _LINES_AROUND])


def _steps(workflow: Workflow, outline: Outline) -> Iterator[ShownStep]:
    for number, step in enumerate(workflow.steps, start=1):
        lines = dict.fromkeys((each.start_line, each.end_line) for each in step.citations)
        menu = menu_of(outline, step.node) if step.node in outline.found else None
        yield ShownStep(number, step, tuple(lines), menu)


def _offered(offer: OfferedProcedure, name: str) -> ShownOffer:
    return ShownOffer(offer, _drawn(lower(offer.offered, name), offer.procedure))


def _drawn(workflow: Workflow, place: int) -> Markup:
    """The drawing, each step a link to its place in the list; its writer escapes every text."""
    numbers: Mapping[str, int] = {
        step.id: number for number, step in enumerate(workflow.steps, start=1)
    }
    return Markup(to_svg(workflow, link=lambda id_: f"#p{place}-step-{numbers[id_]}"))  # noqa: S704
