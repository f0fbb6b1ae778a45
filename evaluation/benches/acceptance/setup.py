"""The ways of showing a ticket's page, by name."""

from pathlib import Path
from typing import Literal, assert_never

from evaluation.benches.acceptance.first_screen import TicketWalk
from evaluation.benches.acceptance.showing import Show, bare, checklist, recorded, served_workflow
from evaluation.benches.boxes import Predicate, plain_boxes
from evaluation.material.gold_pages import PageOf
from evaluation.material.page_contexts import PageContexts
from evaluation.material.recorded_answers import RECORDED, by_record, read_answers
from services.deployment.embedded import Embedded
from services.kit.errors import InvalidInputError
from services.knowledge.ports import Embedder
from services.planner.service import PlannerService
from services.scorer.service import ScorerService
from services.tickets.walk.fit import Thresholds

ShowName = Literal["page", "bare", "today", "workflow", "found", "recorded"]


class MissingOptionError(InvalidInputError):
    """A way of showing without what it is made of."""


def show_named(
    name: ShowName,
    page_of: PageOf,
    embedder: Embedder,
    *,
    platform: Embedded | None = None,
    answers: Path | None = None,
    boxes: Predicate | None = None,
) -> Show:
    """Return the way of showing; `boxes` of the platform's page stand for the product's.

    Raises:
        MissingOptionError: It needs a data folder or a file of answers, and there is none.
        PairsError: The file of answers cannot be read.
    """
    match name:
        case "bare":
            return bare(page_of)
        case "page":
            return checklist(PageContexts(page_of, embedder), PlannerService(), boxes)
        case "today":
            return checklist(PageContexts(page_of, embedder), PlannerService(), plain_boxes)
        case "workflow":
            read = by_record(read_answers(answers or RECORDED))
            pages = PageContexts(page_of, embedder, read)
            return served_workflow(pages, page_of, read, PlannerService(), ScorerService(embedder))
        case "recorded":
            if answers is None:
                raise MissingOptionError("texts of another commit are needed: give --answers")
            return recorded(answers)
        case "found":
            if platform is None:
                raise MissingOptionError("documents are needed to find among: give --data-dir")
            thresholds = Thresholds.shipped().with_settings(platform.gateway.settings)
            parts = (platform.retrieval, platform.planner, platform.scorer)
            walk = TicketWalk(*parts, thresholds)
            return lambda row: walk.screen(row.draft).text()
        case _:
            assert_never(name)
