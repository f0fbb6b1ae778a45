"""`bench approval`: what an owner does until a page is right, by program, from drawings.

Where a page was drawn twice, the drawing that costs less counts: what either reader would accept.
"""

from collections.abc import Mapping, Sequence

from evaluation.benches.boxes import has_line
from evaluation.benches.logic.bench import Make
from evaluation.material.gold_pages import PageOf, shown_page, step_lines
from evaluation.material.logic_rows import GoldGraph, LogicRow
from evaluation.measures.approval_cost import Operations, box_taps, operations_of, spread
from evaluation.measures.boxes import JudgedBlock
from evaluation.measures.figures import Figures
from evaluation.measures.logic import LogicCase
from services.knowledge.page.block import Page
from services.knowledge.page.box_fit import BoxFit
from services.knowledge.page.boxes import candidates, find_boxes, last_own_line, lists_of
from services.knowledge.ports import Embedder

Drawings = Mapping[str, Sequence[GoldGraph]]
"""Drawings of each row, one or two, by its id."""


def checklist_figures(
    rows: Sequence[LogicRow], drawings: Drawings, page_of: PageOf, fits: Mapping[str, BoxFit]
) -> dict[str, Figures]:
    """Return what it takes until the boxes of a page are right, with the approval.

    Box by box, or with a tap for all boxes of a list or section.
    """
    wrong, taps = [], []
    for row in rows:
        page, fit = shown_page(page_of(row)), fits[row.set]
        sections = [_sections(page, fit, drawing) for drawing in drawings[row.id]]
        wrong.append(
            min(
                sum(b.has_box != b.is_step for lists in drawn for blocks in lists for b in blocks)
                for drawn in sections
            )
        )
        taps.append(min(map(box_taps, sections)))
    return {
        "wrong boxes": spread(wrong),
        "checklist, box by box": spread([count + 1 for count in wrong]),
        "checklist, lists and sections too": spread([count + 1 for count in taps]),
    }


def _sections(page: Page, fit: BoxFit, drawing: GoldGraph) -> list[list[list[JudgedBlock]]]:
    """Return the blocks by section and list."""
    boxed = {b.key for box in find_boxes(page, fit=fit) for b in (box.block, *box.options)}
    steps = step_lines(drawing)
    places = list(candidates(page))
    sections: dict[str, dict[str, list[JudgedBlock]]] = {}
    for place, name in zip(places, lists_of(places), strict=True):
        block = place.block
        is_step = has_line((block.start_line, last_own_line(block)), steps)
        heading = place.headings[-1].key if place.headings else ""
        of_section = sections.setdefault(heading, {})
        of_section.setdefault(name, []).append(JudgedBlock(block.key in boxed, is_step))
    return [list(lists.values()) for lists in sections.values()]


def workflow_figures(
    rows: Sequence[LogicRow], drawings: Drawings, make: Make, embedder: Embedder
) -> dict[str, Figures]:
    """Return what it takes from the reading of a page to its drawing, with the approval."""
    cases = [
        (row.id, LogicCase(row.page, drawing, workflow))
        for row in rows
        if (workflow := make(row).workflow) is not None and workflow.steps
        for drawing in drawings[row.id]
    ]
    counted = operations_of([case for _, case in cases], embedder)
    by_row: dict[str, list[Operations]] = {}
    for (id_, _), each in zip(cases, counted, strict=True):
        by_row.setdefault(id_, []).append(each)
    pages = list(by_row.values())
    return {
        "operations": spread([min(o.total for o in page) for page in pages]),
        "workflow, in forms": spread([min(o.actions_in_forms for o in page) for page in pages]),
        "workflow, at blocks": spread([min(o.actions_at_blocks for o in page) for page in pages]),
    }
