"""Boxes of pages against their drawings: precision, recall, and wrong ones a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from evaluation.measures.bootstrap import Interval, ratio
from evaluation.measures.figures import Figures


@dataclass(frozen=True)
class JudgedBlock:
    """An item or paragraph of a page."""

    has_box: bool
    is_step: bool
    """Whether a process or decision node of the drawing has a line in it."""


PageBlocks = Sequence[JudgedBlock]
"""All items and paragraphs of one page."""


def box_figures(pages: Sequence[PageBlocks]) -> Figures:
    """Return the figures of all blocks as one, and how many are wrong on a page."""
    wrong = sorted(sum(block.has_box != block.is_step for block in page) for page in pages)
    figures: Figures = {"n": len(pages), "blocks": sum(map(len, pages))}
    figures |= {name: round(share.mean, 3) for name, share in _shares(pages).items()}
    if wrong:
        figures |= {"wrong, median": median(wrong), "wrong, 90th": wrong[int(0.9 * len(wrong))]}
    return figures


def box_intervals(pages: Sequence[PageBlocks]) -> Figures:
    """Return the 95 % intervals of the shares, pages being drawn anew."""
    return {
        f"{name} {end}": round(value, 3)
        for name, share in _shares(pages).items()
        for end, value in (("from", share.low), ("to", share.high))
    }


def _shares(pages: Sequence[PageBlocks]) -> Mapping[str, Interval]:
    if not pages:
        return {}
    boxed, steps, right = (
        np.array(counts, dtype=np.float64)
        for counts in zip(*(_counts(page) for page in pages), strict=True)
    )
    return {
        "precision": ratio(right, boxed, seed=0),
        "recall": ratio(right, steps, seed=0),
        "F1": ratio(2 * right, boxed + steps, seed=0),
    }


def _counts(page: PageBlocks) -> tuple[int, int, int]:
    """Return the number of boxes, of steps, and of those that are both."""
    return (
        sum(block.has_box for block in page),
        sum(block.is_step for block in page),
        sum(block.has_box and block.is_step for block in page),
    )
