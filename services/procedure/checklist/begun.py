"""A reading that begins as the boxes of its page, for an owner who has no model to read it."""

from collections.abc import Mapping

from services.knowledge.page.box_fit import AS_SHIPPED, Habit
from services.knowledge.page.parsing import parse_page
from services.procedure.checklist.build import build_checklist
from services.procedure.model import Do, Procedure, Reader, Reading
from services.procedure.program.numbering import numbered
from services.workflow.model import ShownPage, Step, StepKind

_NO_CORRECTIONS: Mapping[str, bool] = {}


def begun_from_boxes(
    text: str,
    title: str,
    corrections: Mapping[str, bool] = _NO_CORRECTIONS,
    habit: Habit = AS_SHIPPED,
) -> Reading:
    """Return a straight program: a step for each box of the page, in its order.

    It keeps the mark of where it began, so that no step of it changes anything before its owner
    has been asked for its decisions.

    Args:
        text: The page as readings cite it, without the lines that screening left out.
        title: The name of a page that has no heading.
        corrections: An owner's words on boxes, by the key of the block.
        habit: What such words taught of the form of steps.
    """
    page = parse_page(text)
    heading = next((place.block.text for place in page.places() if place.block.level == 1), "")
    shown = ShownPage(document_id=title, title=heading or title, text=text)
    checklist = build_checklist(page, shown, planner="", corrections=corrections, habit=habit)
    body = tuple(map(_do, checklist.of_kind(StepKind.PROCESS)))
    procedure = Procedure(
        title=shown.title, lines=((1, len(page.lines)),), body=body, begun_from_boxes=True
    )
    return numbered(Reading(reader=Reader.PERSON, procedures=(procedure,) if body else ()))


def _do(step: Step) -> Do:
    return Do(
        text=step.text, lines=step.cited_lines, commands=step.commands, expected=step.expected
    )
