"""Candidate 0: the page itself, with a box at each of its steps."""

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from services.contracts.planner import SERVED_BY, PlanRequest
from services.contracts.retrieval import PageReading
from services.knowledge.page.block import Section
from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of
from services.knowledge.page.parsing import REMEMBERED_LENGTH, parse_page
from services.knowledge.screening.withheld import withheld_lines
from services.language.names import alert_names
from services.runbook.checking.approvals import ApprovalUse, provenance_state
from services.runbook.checklist.build import LONGEST_PAGE, build_checklist
from services.runbook.checklist.opening import open_sections
from services.runbook.model import Do
from services.runbook.ports import ApprovalKind
from services.runbook.program import line_numbers
from services.workflow.model import ShownPage, StepKind, Workflow

_REMEMBERED = 256


def checklists(request: PlanRequest, pages: list[PageReading]) -> Iterator[Workflow]:
    """Yield the checklist of each of these pages, in their order.

    A page that somebody has read has one too: it stands beside the workflow of its reading.
    """
    for page in pages:
        stored = page.stored_text or page.text
        if not stored.strip() or len(stored) > LONGEST_PAGE:
            continue
        shown = ShownPage(
            document_id=page.document_id,
            title=page.title,
            text=stored,
            withheld=withheld_lines(stored, page.text),
        )
        build = _cached_build if len(stored) <= REMEMBERED_LENGTH else _build
        corrections = tuple(sorted(page.boxes.items()))
        workflow, tasks = build(shown, corrections, tuple(sorted(page.box_habit.items())))
        yield _for_ticket(workflow, tasks, page, request)


def _build(
    shown: ShownPage,
    corrections: tuple[tuple[str, bool], ...],
    learned: tuple[tuple[str, float], ...],
) -> tuple[Workflow, tuple[Section, ...]]:
    """Build the checklist of a page, and find its tasks."""
    page = parse_page(shown.text, withheld=shown.withheld)
    boxes, habit = dict(corrections), dict(learned)
    workflow = build_checklist(page, shown, planner=SERVED_BY, corrections=boxes, habit=habit)
    return workflow, tuple(tasks_of(page, find_boxes(page, boxes, habit=habit)))


_cached_build = lru_cache(maxsize=_REMEMBERED)(_build)


def _for_ticket(
    workflow: Workflow, tasks: tuple[Section, ...], page: PageReading, request: PlanRequest
) -> Workflow:
    """Return the checklist with the sections that the ticket asks for, and its incident nodes."""
    origin, shown = workflow.provenance, workflow.page
    if origin is None or shown is None:
        return workflow
    ticket = request.ticket
    open_ = open_sections(
        parse_page(shown.text, withheld=shown.withheld),
        tasks,
        alert_names={*filter(None, (ticket.alert_name, *alert_names(ticket.title)))},
        anchor=unquote(urlsplit(ticket.runbook_url).fragment),
        lines=page.near,
    )
    nodes = (hit.node for hit in request.context.nodes)
    own = tuple(node.id for node in nodes if page.document_id in node.document_ids)
    nearest_first = tuple(sorted(page.links, key=lambda link: -link.nearness))
    is_checked = _has_approved_boxes(workflow, page)
    state = provenance_state(ApprovalKind.CHECKLIST) if is_checked else ""
    of_ticket = {"node_ids": own, "page_origin": page.origin, "state": state}
    return workflow.model_copy(
        update={
            "provenance": origin.model_copy(update=of_ticket),
            "page": shown.model_copy(update={"open": open_, "links": nearest_first}),
        }
    )


def _has_approved_boxes(workflow: Workflow, page: PageReading) -> bool:
    """Return True if the boxes are the steps of procedures whose boxes somebody has approved.

    No page is said to have them from which lines are withheld: readings do not cite those.
    """
    approved = page.approved_for(ApprovalUse.BOXES_VERDICT)
    if page.stored_text or not approved or len(approved) < len(page.procedures):
        return False
    steps = line_numbers(
        lines
        for each in approved
        for node in each.walk()
        if isinstance(node, Do)
        for lines in node.lines
    )
    boxes = [box.cited_lines for box in workflow.of_kind(StepKind.PROCESS) if box.cited_lines]
    own = line_numbers(lines for box in boxes for lines in box)
    return bool(boxes) and steps <= own and all(box[0][0] in steps for box in boxes)
