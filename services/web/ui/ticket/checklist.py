"""View of a page with boxes on a ticket's page: open parts, their order, and the progress."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.contracts.adoption import StepWork
from services.knowledge.page.block import Block, BlockKind, Page
from services.runbook.checklist.sections import open_share
from services.runbook.checklist.shown import (
    boxes_of,
    closed_sections,
    hand_over_boxes,
    page_of,
    steps_without_block,
)
from services.web.ui.page_links import PageLinks
from services.web.ui.ticket.page_pieces import CLOSED, BlockPiece, ChecklistBox, PagePieces
from services.web.ui.ticket.views import NumberedStep
from services.workflow.model import ShownPage, Workflow

_BOX_KINDS = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH})
"""Kinds of blocks that may have a box."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class ChecklistPart:
    """A run of blocks: a task of the page, or the blocks outside its tasks."""

    pieces: tuple[BlockPiece, ...]
    heading: Block | None
    """The heading of a task."""
    path: tuple[str, ...]
    """The headings above a task."""
    is_task_of_ticket: bool
    """True if the ticket asks for this task, so that it comes first."""
    is_open: bool
    boxes: tuple[ChecklistBox, ...]

    @property
    def settled(self) -> int:
        """Number of its boxes that need nothing any more."""
        return sum(box.is_settled for box in self.boxes)


@dataclass(frozen=True)
class Checklist:
    """A page with boxes, and the progress of the work on it."""

    page: ShownPage
    parts: tuple[ChecklistPart, ...]
    next: NumberedStep | None
    without_place: tuple[ChecklistBox, ...]
    """Steps that no block of the page stands for, such as those that somebody added."""
    open_lines: float
    """Share of the page's lines that are shown open."""
    ended: StepWork | None
    """The work on its last step, if somebody said how the work ended."""

    @property
    def has_own_title(self) -> bool:
        """True if the page begins with its title, which need not be repeated above it."""
        pieces = (piece for part in self.parts for piece in part.pieces)
        first = next((each for each in pieces if each.block.kind not in CLOSED), None)
        return first is not None and first.block.text == self.page.title

    @property
    def tasks_of_ticket(self) -> tuple[ChecklistPart, ...]:
        """The tasks that the ticket asks for."""
        return tuple(part for part in self.parts if part.is_task_of_ticket)

    @property
    def boxes(self) -> tuple[ChecklistBox, ...]:
        """Boxes that are shown open, in the order of the view."""
        return (*_open_boxes(self.parts), *self.without_place)

    @property
    def withheld(self) -> int:
        """Number of open lines without a box because no model may see their items or paragraphs."""
        pieces = (piece for part in self.parts if part.is_open for piece in part.pieces)
        spans = {
            range(piece.block.start_line, piece.block.own_end + 1)
            for piece in pieces
            if piece.block.is_withheld and piece.block.kind in _BOX_KINDS
        }
        return sum(line in span for span in spans for line in self.page.withheld)

    @property
    def settled(self) -> int:
        """Number of open boxes that need nothing any more."""
        return sum(box.is_settled for box in self.boxes)


def checklist_of(
    workflow: Workflow, steps: Sequence[NumberedStep], links: PageLinks | None = None
) -> Checklist | None:
    """Return the page of a checklist with its boxes; None for any other workflow.

    Without `links` the page's links lead away to the documents that they mean.
    """
    if not workflow.is_checklist or workflow.page is None:
        return None
    shown, page = workflow.page, page_of(workflow)
    own = boxes_of(workflow)
    numbered = {item.step.id: item for item in steps}
    hand_over_keys = hand_over_boxes(page, own)
    boxes = {
        key: ChecklistBox(numbered[step.id], hands_over=key in hand_over_keys)
        for key, step in own.items()
    }
    others = tuple(ChecklistBox(numbered[step.id]) for step in steps_without_block(workflow, page))
    closed = closed_sections(workflow, page)
    pieces = PagePieces(page, links or PageLinks(page, shown.document_id), boxes)
    parts = _parts(page, pieces, frozenset(shown.open), closed)
    ended = next((item.work for item in steps if item.step.implied and item.work.branch), None)
    return Checklist(
        page=shown,
        parts=parts,
        next=None if ended else _next_box((*_open_boxes(parts), *others)),
        without_place=others,
        open_lines=open_share(page, closed),
        ended=ended,
    )


def _parts(
    page: Page, pieces: PagePieces, tasks_of_ticket: frozenset[str], closed: frozenset[str]
) -> tuple[ChecklistPart, ...]:
    """Return the tasks that the ticket asks for, then the rest of the page in its order."""
    above = {
        place.block.key: place.headings
        for place in page.places()
        if place.block.key in tasks_of_ticket | closed
    }
    first: list[ChecklistPart] = []
    rest: list[ChecklistPart] = []
    for heading, blocks in _runs(page, above):
        is_task_of_ticket = heading is not None and heading.key in tasks_of_ticket
        path = above[heading.key] if heading else ()
        shown = tuple(pieces.of(blocks, depth=len(path) if is_task_of_ticket else 0))
        boxes = tuple(piece.box for piece in shown if piece.box and not piece.is_end)
        part = ChecklistPart(
            pieces=shown,
            heading=heading,
            path=tuple(each.text for each in path),
            is_task_of_ticket=is_task_of_ticket,
            is_open=heading is None or is_task_of_ticket or any(box.is_settled for box in boxes),
            boxes=boxes,
        )
        (first if is_task_of_ticket else rest).append(part)
    return (*first, *rest)


def _runs(
    page: Page, tasks: Mapping[str, object]
) -> Iterator[tuple[Block | None, Sequence[Block]]]:
    """Yield the outermost blocks in runs: each task with its heading, and the blocks between."""
    heading: Block | None = None
    run: list[Block] = []
    for block in page.blocks:
        is_heading = block.kind is BlockKind.HEADING
        if is_heading and (heading is None or block.level <= heading.level):
            is_task = block.key in tasks
            if heading is not None or is_task:
                if run:
                    yield heading, run
                run = []
            heading = block if is_task else None
        run.append(block)
    if run:
        yield heading, run


def _open_boxes(parts: Iterable[ChecklistPart]) -> list[ChecklistBox]:
    return [box for part in parts if part.is_open for box in part.boxes]


def _next_box(boxes: Sequence[ChecklistBox]) -> NumberedStep | None:
    """Return the first open box after the one that was marked last, else the first open one."""
    last = max(
        (n for n, box in enumerate(boxes) if box.is_settled),
        key=lambda n: boxes[n].item.work.marked_at or _NEVER,
        default=-1,
    )
    ordered = (*boxes[last + 1 :], *boxes[: last + 1])
    return next((box.item for box in ordered if not box.is_settled), None)
