"""`bench boxes`: which blocks of a page are steps, against drawn pages."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from evaluation.material.gold_pages import PageOf, shown_page, step_lines
from evaluation.material.logic_rows import GoldGraph, LogicRow
from evaluation.measures.boxes import JudgedBlock, PageBlocks, box_figures, box_intervals
from evaluation.measures.figures import Report, mean_over_sets
from services.knowledge.page.block import Block, BlockKind, Page
from services.knowledge.page.box_fit import AS_SHIPPED, BoxFit, Habit
from services.knowledge.page.boxes import Box, candidates, find_boxes, last_own_line

Predicate = Callable[[LogicRow, Page], Sequence[Box]]
"""Boxes of a row's page."""


def fitted_boxes(habit: Habit = AS_SHIPPED) -> Predicate:
    """Return the boxes as a platform finds them whose people taught it this habit."""
    return lambda _row, page: find_boxes(page, habit=habit)


def plain_boxes(_row: LogicRow, page: Page) -> list[Box]:
    """Return a box at every item, and at every paragraph that ends with a colon."""
    return [
        Box(place)
        for place in candidates(page)
        if place.block.kind is BlockKind.ITEM or place.block.text.endswith(":")
    ]


def left_out_boxes(fits: Mapping[str, BoxFit]) -> Predicate:
    """Return the boxes by the fit that saw no page of the row's set."""
    return lambda row, page: find_boxes(page, fit=fits[row.set])


def box_rows(
    rows: Sequence[LogicRow], page_of: PageOf, predicate: Predicate
) -> Iterator[dict[str, Any]]:
    """Yield for each row its items and paragraphs, each with its lines and whether it has a box.

    Options of an either/or, which are one box together, have one each.
    """
    for row in rows:
        page = shown_page(page_of(row))
        boxes = predicate(row, page)
        boxed = {block.key for box in boxes for block in (box.block, *box.options)}
        blocks = [place.block for place in candidates(page)]
        judged = [{"lines": _lines(block), "box": block.key in boxed} for block in blocks]
        yield {"id": row.id, "set": row.set, "blocks": judged}


def report(
    made: Sequence[Mapping[str, Any]],
    rows: Mapping[str, GoldGraph],
    second: Mapping[str, GoldGraph],
    config: Mapping[str, object],
    seconds: float,
) -> Report:
    """Return the figures by set and of all pages as one, beside those of a second drawing."""
    pages = {row["id"]: _judged(row, rows[row["id"]]) for row in made if row["id"] in rows}
    sets = {row["id"]: row["set"] for row in made}
    of_set = {
        name: [page for id_, page in pages.items() if sets[id_] == name]
        for name in sorted(set(sets.values()))
    }
    pooled = {"boxes": list(pages.values())}
    again = [_redrawn(row, rows, second) for row in made if row["id"] in rows.keys() & second]
    pooled |= {"second drawing": again} if again else {}
    own = {name: box_figures(blocks) for name, blocks in of_set.items()}
    return Report.model_validate(
        {
            "benchmark": "boxes",
            "overall": mean_over_sets(own),
            "sets": own,
            "pooled": {name: box_figures(blocks) for name, blocks in pooled.items()},
            "intervals": {
                name: box_intervals(blocks) for name, blocks in (of_set | pooled).items()
            },
            "config": dict(config),
            "seconds": seconds,
        }
    )


def _lines(block: Block) -> tuple[int, int]:
    return block.start_line, last_own_line(block)


def _judged(row: Mapping[str, Any], drawn: GoldGraph) -> PageBlocks:
    steps = step_lines(drawn)
    return [JudgedBlock(block["box"], has_line(block["lines"], steps)) for block in row["blocks"]]


def _redrawn(
    row: Mapping[str, Any], rows: Mapping[str, GoldGraph], second: Mapping[str, GoldGraph]
) -> PageBlocks:
    """Return the blocks with a box where a second reader draws a step."""
    first, other = (step_lines(drawn[row["id"]]) for drawn in (rows, second))
    return [
        JudgedBlock(has_line(block["lines"], other), has_line(block["lines"], first))
        for block in row["blocks"]
    ]


def has_line(span: tuple[int, int], lines: Collection[int]) -> bool:
    """Return True if one of the lines is in the span."""
    return any(line in lines for line in range(span[0], span[1] + 1))
