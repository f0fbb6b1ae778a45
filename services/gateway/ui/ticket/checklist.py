"""A page with boxes as the ticket's page shows it: what is open, in which order, and how far."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.contracts.adoption import StepWork
from services.gateway.ui.page_links import PageLinks
from services.gateway.ui.ticket.page_pieces import CLOSED, Box, PagePieces, Piece
from services.gateway.ui.ticket.views import NumberedStep
from services.knowledge.page.block import Block, BlockKind, Page
from services.procedure.checklist.sections import open_share
from services.procedure.checklist.shown import (
    boxes_of,
    closed_in,
    handing_over,
    page_of,
    without_place,
)
from services.workflow.model import ShownPage, Workflow

_WITH_BOX = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH})
"""Kinds of blocks that may have one."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Part:
    """A run of blocks: a task of the page, or what stands outside its tasks."""

    pieces: tuple[Piece, ...]
    heading: Block | None
    """Of a task."""
    path: tuple[str, ...]
    """Of a task: the headings that it stands below."""
    is_task_of_ticket: bool
    """Whether the ticket asks for this task, so that it stands first."""
    is_open: bool
    boxes: tuple[Box, ...]

    @property
    def settled(self) -> int:
        """How many of its boxes need nothing any more."""
        return sum(box.is_settled for box in self.boxes)


@dataclass(frozen=True)
class Checklist:
    """A page with boxes, and how far the work on it is."""

    page: ShownPage
    parts: tuple[Part, ...]
    next: NumberedStep | None
    without_place: tuple[Box, ...]
    """Steps that no block of the page stands for, as those that somebody added."""
    open_lines: float
    """Share of the page's lines that stand open."""
    ended: StepWork | None
    """How the work on it ended, where somebody said so."""

    @property
    def has_own_title(self) -> bool:
        """Whether it begins with its title, which need not be shown above it again."""
        pieces = (piece for part in self.parts for piece in part.pieces)
        first = next((each for each in pieces if each.block.kind not in CLOSED), None)
        return first is not None and first.block.text == self.page.title

    @property
    def tasks_of_ticket(self) -> tuple[Part, ...]:
        """The tasks that the ticket asks for."""
        return tuple(part for part in self.parts if part.is_task_of_ticket)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Boxes that stand open, in the order in which they are shown."""
        return (*_open_boxes(self.parts), *self.without_place)

    @property
    def withheld(self) -> int:
        """Lines of items and paragraphs among them that have no box, as no model may see them."""
        pieces = (piece for part in self.parts if part.is_open for piece in part.pieces)
        spans = {
            range(piece.block.start_line, piece.block.own_end + 1)
            for piece in pieces
            if piece.block.is_withheld and piece.block.kind in _WITH_BOX
        }
        return sum(line in span for span in spans for line in self.page.withheld)

    @property
    def settled(self) -> int:
        """How many of these need nothing any more."""
        return sum(box.is_settled for box in self.boxes)


def checklist_of(
    workflow: Workflow, steps: Sequence[NumberedStep], links: PageLinks | None = None
) -> Checklist | None:
    """Return the page of a checklist with its boxes; None of any other workflow.

    Without `links` its links lead away to the documents that they mean.
    """
    if not workflow.is_checklist or workflow.page is None:
        return None
    shown, page = workflow.page, page_of(workflow)
    own = boxes_of(workflow)
    numbered = {item.step.id: item for item in steps}
    handing = handing_over(page, own)
    boxes = {key: Box(numbered[step.id], hands_over=key in handing) for key, step in own.items()}
    others = tuple(Box(numbered[step.id]) for step in without_place(workflow, page))
    closed = closed_in(workflow, page)
    pieces = PagePieces(page, links or PageLinks(page, shown.document_id), boxes)
    parts = _parts(page, pieces, frozenset(shown.open), closed)
    ended = next((item.work for item in steps if item.step.implied and item.work.branch), None)
    return Checklist(
        page=shown,
        parts=parts,
        next=None if ended else _next((*_open_boxes(parts), *others)),
        without_place=others,
        open_lines=open_share(page, closed),
        ended=ended,
    )


def _parts(
    page: Page, pieces: PagePieces, tasks_of_ticket: frozenset[str], closed: frozenset[str]
) -> tuple[Part, ...]:
    """Return the tasks that are asked for, then the rest of the page in its order."""
    above = {
        place.block.key: place.headings
        for place in page.places()
        if place.block.key in tasks_of_ticket | closed
    }
    first: list[Part] = []
    rest: list[Part] = []
    for heading, blocks in _runs(page, above):
        is_task_of_ticket = heading is not None and heading.key in tasks_of_ticket
        path = above[heading.key] if heading else ()
        shown = tuple(pieces.of(blocks, depth=len(path) if is_task_of_ticket else 0))
        boxes = tuple(piece.box for piece in shown if piece.box and not piece.is_end)
        part = Part(
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
    """Yield the outermost blocks in runs: each task with its heading, and what is between them."""
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


def _open_boxes(parts: Iterable[Part]) -> list[Box]:
    return [box for part in parts if part.is_open for box in part.boxes]


def _next(boxes: Sequence[Box]) -> NumberedStep | None:
    """Return the first open box behind the one that was marked last, else the first open one."""
    last = max(
        (n for n, box in enumerate(boxes) if box.is_settled),
        key=lambda n: boxes[n].item.work.marked_at or _NEVER,
        default=-1,
    )
    ordered = (*boxes[last + 1 :], *boxes[: last + 1])
    return next((box.item for box in ordered if not box.is_settled), None)
