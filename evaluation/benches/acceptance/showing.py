"""What is shown for a ticket, as a row for blind readers, and where such rows come from."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evaluation.benches.acceptance.steps_text import to_steps_text
from evaluation.benches.boxes import Predicate
from evaluation.material.gold_pages import PageOf
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_contexts import PageContexts
from evaluation.material.page_reader import Read
from evaluation.material.requests import plan_request, score_request
from services.contracts.planner import Planner
from services.contracts.scorer import Scorer
from services.contracts.screened_ticket import ScreenedTicket
from services.kit.files import read_json_lines
from services.knowledge.page.block import Page
from services.knowledge.page.boxes import Box, candidates, find_boxes
from services.knowledge.page.parsing import parse_page
from services.knowledge.screening.withheld import withheld_lines
from services.runbook.checklist.text import to_checklist_text
from services.tickets.walk.binding import substitute_labels

Show = Callable[[LogicRow], str | None]
"""Text that an engineer sees for the ticket of a row; None where this way shows none."""


def shown_rows(
    rows: Sequence[LogicRow],
    arm: str,
    page_of: PageOf,
    show: Show,
    advance: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Yield a record for readers of each row that is shown: ticket, right page, shown text."""
    for row in rows:
        text = show(row)
        advance()
        if text is not None:
            ticket = {"title": row.draft.title, "description": row.draft.description}
            record = {"id": row.id, "arm": arm, "ticket": ticket}
            yield record | {"page": page_of(row).text, "shown": text}


def bare(page_of: PageOf) -> Show:
    """Return the page as it is written, without a box."""
    return lambda row: page_of(row).text


def checklist(pages: PageContexts, planner: Planner, boxes: Predicate | None = None) -> Show:
    """Return the platform's page, with the product's boxes or those of a predicate."""

    def show(row: LogicRow) -> str | None:
        context = pages.context(row.draft, [row])
        if boxes is not None:
            (page,) = context.pages
            stored = page.stored_text or page.text
            parsed = parse_page(stored, withheld=withheld_lines(stored, page.text))
            own = {"boxes": _corrections(parsed, boxes(row, parsed))}
            context = context.model_copy(update={"pages": (page.model_copy(update=own),)})
        made = planner.plan(plan_request(row.draft, context)).candidates
        checklists = (each.workflow for each in made if each.workflow.is_checklist)
        return next(map(to_checklist_text, checklists), None)

    return show


def _corrections(page: Page, boxes: Sequence[Box]) -> dict[str, bool]:
    """Return an owner's words that lead from the product's boxes to these."""
    product, wanted = ({box.block.key for box in some} for some in (find_boxes(page), boxes))
    keys = (place.block.key for place in candidates(page))
    return {key: key in wanted for key in keys if (key in wanted) != (key in product)}


def served_workflow(
    pages: PageContexts, page_of: PageOf, read: Read, planner: Planner, scorer: Scorer
) -> Show:
    """Return the best workflow that is served of a reading; None for a page without one."""

    def show(row: LogicRow) -> str | None:
        if read(page_of(row)) is None:
            return None
        context = pages.context(row.draft, [row])
        made = planner.plan(plan_request(row.draft, context)).candidates
        read_ones = [each for each in made if not each.workflow.is_checklist]
        if not read_ones:
            return None
        ranked = scorer.score(score_request(row.draft, context, read_ones)).ranked
        return to_steps_text(
            substitute_labels(ranked, ScreenedTicket(row.draft))[0].candidate.workflow
        )

    return show


class _Recorded(BaseModel):
    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    shown: str


def recorded(path: Path) -> Show:
    """Return the texts that a file holds by id, shown by another commit for example.

    Raises:
        PairsError: The file cannot be read, or a line holds no such text.
    """
    texts = {line.id: line.shown for _, line in read_json_lines(path, _Recorded)}
    return lambda row: texts.get(row.id)
