"""What is shown for a ticket, as a row for blind readers, and where such rows come from."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.benches.acceptance.steps_text import to_steps_text
from evaluation.benches.boxes import Predicate
from evaluation.material.given_pages import GivenPages
from evaluation.material.gold_pages import PageOf
from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import PairsError, read_lines
from evaluation.material.requests import plan_request, score_request
from services.contracts.planner import Planner
from services.contracts.scorer import Scorer
from services.gateway.walk.binding import filled
from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.workflow.formats.checklist_text import to_checklist_text

Show = Callable[[LogicRow], str]
"""Text that an engineer sees for the ticket of a row."""


@dataclass(frozen=True)
class Shown:
    """A row for readers: never which way it was shown, but in its arm."""

    row: LogicRow
    arm: str
    page: str
    """Text of the page that is right for the ticket."""
    text: str

    def record(self) -> dict[str, object]:
        """Return the row as JSON."""
        ticket = {"title": self.row.draft.title, "description": self.row.draft.description}
        return {
            "id": self.row.id,
            "arm": self.arm,
            "ticket": ticket,
            "page": self.page,
            "shown": self.text,
        }


def shown_rows(
    rows: Sequence[LogicRow], arm: str, page_of: PageOf, show: Show
) -> Iterator[Shown]:
    """Yield what is shown for each row."""
    for row in rows:
        yield Shown(row, arm, page_of(row).text, show(row))


def bare(page_of: PageOf) -> Show:
    """Return the page as it is written, without a box."""
    return lambda row: page_of(row).text


def checklist(pages: GivenPages, planner: Planner, boxes: Predicate | None = None) -> Show:
    """Return the platform's page, with the product's boxes or those of a predicate."""

    def show(row: LogicRow) -> str:
        context = pages.context(row.draft, [row])
        if boxes is not None:
            (page,) = context.pages
            parsed = parse_page(page.stored_text or page.text)
            boxed = boxes(parsed)
            keys = (place.block.key for place in candidates(parsed))
            own = page.model_copy(update={"boxes": {key: key in boxed for key in keys}})
            context = context.model_copy(update={"pages": (own,)})
        made = planner.plan(plan_request(row.draft, context)).candidates
        return next(to_checklist_text(c.workflow) for c in made if c.workflow.is_checklist)

    return show


def workflow(pages: GivenPages, planner: Planner, scorer: Scorer) -> Show:
    """Return the best workflow that is served of a reading of the row's page."""

    def show(row: LogicRow) -> str:
        context = pages.context(row.draft, [row])
        made = planner.plan(plan_request(row.draft, context)).candidates
        read = [each for each in made if not each.workflow.is_checklist]
        if not read:
            return NO_WORKFLOW
        ranked = scorer.score(score_request(row.draft, context, read)).ranked
        (best, *_) = filled(ranked, row.draft)
        return to_steps_text(best.candidate.workflow)

    return show


NO_WORKFLOW = "There is no workflow for this ticket.\n"


class _Recorded(BaseModel):
    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    shown: str


def recorded(path: Path) -> dict[str, str]:
    """Return by the id of their row the texts that were shown, by another commit for example.

    Raises:
        PairsError: The file cannot be read, or a line holds no such text.
    """
    return {line.id: line.shown for _, line in read_lines(path, _Recorded)}
