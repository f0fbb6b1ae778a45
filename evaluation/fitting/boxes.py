"""`bench fit-boxes`: signs of form by which the steps of a page are told, from drawn pages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.fitting.forests import fitted_forest
from evaluation.material.gold_pages import PageOf, shown_page, step_lines
from evaluation.material.logic_rows import LogicRow
from services.kit.fits.trees import Forest
from services.knowledge.page.box_fit import BoxFit, list_means, shipped_fit
from services.knowledge.page.box_signs import SIGNS, SIGNS_HASH, Row, signs_of
from services.knowledge.page.boxes import candidates_with_words, lists_of

_THRESHOLDS = np.arange(0.3, 0.601, 0.01)
_TREES, _LEAVES, _RATE, _SIGNS_TRIED = 200, 12, 0.05, 0.1
"""Few signs a leaf: a sign that tells a set's habits has less of a say on other sets."""
_FEWEST_PAGES = 20
"""Of a set that has figures of its own."""

Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class PageRows:
    """The items and paragraphs of a drawn page."""

    set: str
    signs: tuple[Row, ...]
    lists: tuple[str, ...]
    """Names of the lists that they are of, as `lists_of` gives them."""
    is_step: tuple[bool, ...]
    """Whether a process or decision node of the drawing has a line in the block."""


def page_rows(rows: Sequence[LogicRow], page_of: PageOf) -> list[PageRows]:
    """Return the blocks of the drawn pages; pages without a drawing are left out."""
    pages = []
    for row in rows:
        if row.reference is not None:
            page = shown_page(page_of(row))
            places, lines = candidates_with_words(page), step_lines(row.reference)
            spans = [range(p.block.start_line, p.block.own_end + 1) for p in places]
            is_step = tuple(any(line in lines for line in span) for span in spans)
            pages.append(
                PageRows(row.set, tuple(signs_of(page, places)), tuple(lists_of(places)), is_step)
            )
    return pages


def fit_boxes(pages: Sequence[PageRows], provenance: str) -> BoxFit:
    """Fit on all pages; threshold and figures are of forests that left a page's set out."""
    chances = left_out_chances(pages)
    truths = [np.array(page.is_step) for page in pages]
    threshold = max(_THRESHOLDS, key=lambda t: f1([c >= t for c in chances], truths))
    return BoxFit(
        signs_hash=SIGNS_HASH,
        threshold=round(float(threshold), 2),
        forest=_forest(pages),
        provenance=provenance,
        figures=_figures(pages, [c >= threshold for c in chances], truths),
    )


def left_out_chances(pages: Sequence[PageRows]) -> list[NDArray[np.float64]]:
    """Return the chances of each page's blocks by a forest that saw no page of its set."""
    forests = _left_out_forests(pages)
    return [
        np.array(list_means(forests[page.set].chances(page.signs), page.lists)) for page in pages
    ]


def left_out_fits(pages: Sequence[PageRows]) -> dict[str, BoxFit]:
    """Return by the name of each set the fit that saw no page of it, at the shipped threshold."""
    threshold = shipped_fit().threshold
    return {
        name: BoxFit(signs_hash=SIGNS_HASH, threshold=threshold, forest=forest)
        for name, forest in _left_out_forests(pages).items()
    }


def f1(boxes: Sequence[Truths], truths: Sequence[Truths]) -> float:
    """Return F1 of the boxes of all pages together."""
    right = sum(int((box & truth).sum()) for box, truth in zip(boxes, truths, strict=True))
    total = sum(int(box.sum() + truth.sum()) for box, truth in zip(boxes, truths, strict=True))
    return 2 * right / max(1, total)


def _left_out_forests(pages: Sequence[PageRows]) -> dict[str, Forest]:
    return {
        name: _forest([page for page in pages if page.set != name])
        for name in sorted({page.set for page in pages})
    }


def _forest(pages: Sequence[PageRows]) -> Forest:
    examples = [
        (dict(zip(SIGNS, map(float, signs), strict=True)), is_step)
        for page in pages
        for signs, is_step in zip(page.signs, page.is_step, strict=True)
    ]
    return fitted_forest(
        examples,
        is_balanced=False,
        names=SIGNS,
        trees=_TREES,
        leaves=_LEAVES,
        rate=_RATE,
        signs_tried=_SIGNS_TRIED,
    )[1]


def _figures(
    pages: Sequence[PageRows], boxes: Sequence[Truths], truths: Sequence[Truths]
) -> dict[str, dict[str, float]]:
    sizes = Counter(page.set for page in pages)
    names = [name for name, count in sorted(sizes.items()) if count >= _FEWEST_PAGES]
    judged = list(zip(pages, boxes, truths, strict=True))
    figures = {}
    for name in ("", *names):
        own = [(b, t) for page, b, t in judged if name in ("", page.set)]
        wrong = sorted(int((b != t).sum()) for b, t in own)
        figures[name or "all"] = {
            "pages": len(own),
            "f1": round(f1([b for b, _ in own], [t for _, t in own]), 3),
            "wrong_median": float(np.median(wrong)),
            "wrong_p90": wrong[int(0.9 * len(wrong))],
        }
    return figures
