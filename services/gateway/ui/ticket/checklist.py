"""A page with boxes as the ticket's page shows it: what is open, in which order, and how far."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.gateway.ui.page_links import PageLinks
from services.gateway.ui.ticket.page_pieces import CLOSED, Box, PagePieces, Piece
from services.gateway.ui.ticket.views import NumberedStep
from services.knowledge.page.block import Block, BlockKind, Page
from services.knowledge.page.parsing import parse_page
from services.workflow.model import ShownPage, StepKind, Workflow

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Part:
    """A run of blocks: a task of the page, or what stands outside its tasks."""

    pieces: tuple[Piece, ...]
    heading: Block | None
    """Of a task."""
    path: tuple[str, ...]
    """Of a task: the headings that it stands below."""
    is_asked_for: bool
    """Whether the ticket asks for this task, so that it stands first."""
    is_open: bool
    boxes: tuple[Box, ...]
    lines: int

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
    """Steps that somebody added, or whose block the page does not have."""
    open_lines: float
    """Share of the page's lines that stand open."""

    @property
    def has_own_title(self) -> bool:
        """Whether it begins with its title, which need not be shown above it again."""
        pieces = (piece for part in self.parts for piece in part.pieces)
        first = next((each for each in pieces if each.block.kind not in CLOSED), None)
        return first is not None and first.block.text == self.page.title

    @property
    def asked_for(self) -> tuple[Part, ...]:
        """The tasks that the ticket asks for."""
        return tuple(part for part in self.parts if part.is_asked_for)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Boxes that stand open, in the order in which they are shown."""
        return (*_open_boxes(self.parts), *self.without_place)

    @property
    def settled(self) -> int:
        """How many of these need nothing any more."""
        return sum(box.is_settled for box in self.boxes)


def checklist_of(workflow: Workflow, steps: Sequence[NumberedStep]) -> Checklist | None:
    """Return the page of a checklist with its boxes; None of any other workflow."""
    if not workflow.is_checklist or workflow.page is None:
        return None
    shown = workflow.page
    page = parse_page(shown.text, withheld=shown.withheld)
    boxes, without_place = _boxes(page, steps)
    pieces = PagePieces(page, PageLinks(page, shown.document_id), boxes)
    parts = _parts(page, pieces, set(shown.open))
    lines = sum(part.lines for part in parts)
    opened = sum(part.lines for part in parts if part.is_open)
    return Checklist(
        page=shown,
        parts=parts,
        next=_next((*_open_boxes(parts), *without_place)),
        without_place=without_place,
        open_lines=opened / lines if lines else 1.0,
    )


def _boxes(page: Page, steps: Sequence[NumberedStep]) -> tuple[Mapping[str, Box], tuple[Box, ...]]:
    """Return the boxes by the keys of their blocks, and those without a block.

    A step whose key the page does not have, as keys were made otherwise once, is found by its
    first line.
    """
    places = list(page.places())
    keys = {place.block.key for place in places}
    by_line = {place.block.start_line: place.block.key for place in reversed(places)}
    own = [item for item in steps if not item.step.implied]
    taken = {item.step.node for item in own}
    found: dict[str, NumberedStep] = {}
    without: list[NumberedStep] = []
    for item in own:
        line = item.step.citations[0].start_line if item.step.citations else 0
        by_place = by_line.get(line, "") if item.step.node else ""
        key = item.step.node if item.step.node in keys else by_place
        if key and key not in found and (key == item.step.node or key not in taken):
            found[key] = item
        elif item.step.kind is not StepKind.TERMINAL:
            without.append(item)
    return {key: Box(item) for key, item in found.items()}, tuple(Box(item) for item in without)


def _parts(page: Page, pieces: PagePieces, asked_for: set[str]) -> tuple[Part, ...]:
    """Return the tasks that are asked for, then the rest of the page in its order."""
    tasks = _tasks(page, asked_for)
    first: list[Part] = []
    rest: list[Part] = []
    for heading, blocks in _runs(page, tasks):
        is_asked_for = heading is not None and heading.key in asked_for
        above = tasks[heading.key] if heading else ()
        shown = tuple(pieces.of(blocks, depth=len(above) if is_asked_for else 0))
        boxes = tuple(piece.box for piece in shown if piece.box and not piece.is_end)
        part = Part(
            pieces=shown,
            heading=heading,
            path=tuple(each.text for each in above),
            is_asked_for=is_asked_for,
            is_open=heading is None or is_asked_for or any(box.is_settled for box in boxes),
            boxes=boxes,
            lines=sum(block.end_line - block.start_line + 1 for block in blocks),
        )
        (first if is_asked_for else rest).append(part)
    return (*first, *rest)


def _tasks(page: Page, asked_for: set[str]) -> dict[str, tuple[Block, ...]]:
    """Return the headings above each task: above those that are asked for and their sisters."""
    above = {
        place.block.key: (place.block.level, place.headings)
        for place in page.places()
        if place.block.kind is BlockKind.HEADING and not place.parents
    }
    sisters = {_family(*above[key]) for key in asked_for if key in above}
    return {key: under for key, (level, under) in above.items() if _family(level, under) in sisters}


def _family(level: int, headings: tuple[Block, ...]) -> tuple[int, str]:
    return level, headings[-1].key if headings else ""


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
