"""Checks that were dropped from pages, and told again by what pages of their kind check.

Pages and their kinds are the platform's own, of what is ingested there. What is dropped is found by
the comparison that tells it again, so recall shows the order and the bound of five, no more. What
is told of a page as it is may be right too; it is listed, to be read.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaluation.material.pairs import is_fitted
from evaluation.measures.bootstrap import DRAWS, LEVEL, intervals
from evaluation.measures.figures import Figures, Report
from services.contracts.readings import ReadingQuery, Readings
from services.contracts.retrieval import Retrieval
from services.runbook.inspections import (
    LEAST_PEERS,
    LEAST_SHARE,
    Check,
    Embed,
    MissingCheck,
    Peer,
    missing_checks,
)
from services.runbook.lowering import lower
from services.tickets.page_quality.completeness import own_checks, pages_of_a_kind

_MOST_DROPPED = 3
_SHARES = (0.6, 0.7, 0.8, 0.9, 1.01)
_AT_ONCE = 1000


@dataclass(frozen=True)
class Page:
    """A page that tells a procedure: what is not told of it again, and others of its kind."""

    id: str
    own: tuple[Check, ...]
    others: tuple[Peer, ...]

    @property
    def half(self) -> str:
        """By its id."""
        return "even" if is_fitted(self.id) else "odd"


def pages_of(
    readings: Readings, retrieval: Retrieval, sample: int, seed: int, advance: Callable[[], None]
) -> list[Page]:
    """So many of what is ingested, drawn by the seed; 0 for all."""
    hashes: list[str] = []
    while True:
        after = hashes[-1] if hashes else ""
        batch = readings.find(ReadingQuery(after=after, limit=_AT_ONCE))
        hashes += [each.text_hash for each in batch]
        if len(batch) < _AT_ONCE:
            break
    random.Random(seed).shuffle(hashes)  # noqa: S311 - a sample
    pages: list[Page] = []
    for text_hash in hashes:
        if sample and len(pages) == sample:
            break
        detail = readings.get(text_hash)
        drawn = [lower(each, text_hash) for each in detail.reading.procedures]
        if drawn and detail.documents:
            own = tuple(check for workflow in drawn for check in own_checks(workflow))
            others = tuple(pages_of_a_kind(retrieval, detail.documents))
            pages.append(Page(detail.documents[0], own, others))
            advance()
    return pages


@dataclass(frozen=True)
class Case:
    """A page without some of its checks."""

    page: Page
    dropped: tuple[str, ...]
    """As others of its kind say them."""
    missing: tuple[MissingCheck, ...]

    @property
    def recall(self) -> float:
        """Share of the dropped checks that are reported again."""
        return sum(each.text in self.dropped for each in self.missing) / len(self.dropped)


def measure(pages: Sequence[Page], embed: Embed, seed: int, advance: Callable[[], None]) -> Report:
    """Figures are of pages with odd ids, those of even ones stand beside them."""
    started = time.perf_counter()
    cases: list[Case] = []
    as_they_are: list[tuple[Page, tuple[MissingCheck, ...]]] = []
    page_shares: list[tuple[Page, float, bool]] = []
    for page in pages:
        if len(page.others) >= LEAST_PEERS:
            checks = missing_checks(page.own, page.others, embed)
            as_they_are.append((page, checks))
            common = missing_checks([], page.others, embed)
            missing = {each.text for each in checks}
            page_shares += [(page, each.share, each.text not in missing) for each in common]
            here = [each for each in common if each.text not in missing]
            cases += _dropped(page, here, embed, seed)
        advance()
    records = [_record(page, each) for page, checks in as_they_are for each in checks]
    sets = {half: _figures(pages, cases, as_they_are, half, seed) for half in ("even", "odd")}
    return Report(
        benchmark="completeness",
        overall=sets["odd"],
        sets=sets,
        config={"share": LEAST_SHARE, "pages": len(pages), "seed": seed},
        seconds=time.perf_counter() - started,
        mean_over="odd ids",
        shares=_calibration(page_shares, "even", seed) | _calibration(page_shares, "odd", seed),
        told=records,
    )


def _dropped(page: Page, here: Sequence[MissingCheck], embed: Embed, seed: int) -> Iterator[Case]:
    """Without one, two and three of what it has and most others of its kind have."""
    draw = random.Random(f"{seed}/{page.id}")  # noqa: S311 - a sample
    for number in range(1, min(_MOST_DROPPED, len(here)) + 1):
        chosen = draw.sample(list(here), number)
        gone = {each.text for each in chosen}
        left = [own for own in page.own if gone <= _missing_texts(own, page.others, embed)]
        yield Case(page, tuple(gone), missing_checks(left, page.others, embed))


def _missing_texts(own: Check, others: Sequence[Peer], embed: Embed) -> set[str]:
    """Return the texts reported missing for a page that has this check alone."""
    return {each.text for each in missing_checks([own], others, embed)}


def _record(page: Page, each: MissingCheck) -> dict[str, object]:
    return {
        "page": page.id,
        "check": each.text,
        "have": each.have,
        "of": each.of,
        "sources": [source.id for source, _ in each.sources],
    }


def _figures(
    pages: Sequence[Page],
    cases: Sequence[Case],
    as_they_are: Sequence[tuple[Page, Sequence[MissingCheck]]],
    half: str,
    seed: int,
) -> Figures:
    rows = np.array([[c.recall, float(len(c.missing))] for c in cases if c.page.half == half])
    counts = [len(checks) for page, checks in as_they_are if page.half == half]
    number = sum(page.half == half for page in pages)
    recall = intervals([rows], seed)[0] if len(rows) else None
    return {
        "n": len(rows),
        **({"recall": recall.mean, "from": recall.low, "to": recall.high} if recall else {}),
        "told": float(rows[:, 1].mean()) if len(rows) else 0.0,
        "pages": number,
        "too few of a kind": 1 - len(counts) / number if number else 0.0,
        "nothing missing": sum(not each for each in counts) / number if number else 0.0,
        "told of a page as it is": float(np.mean(counts)) if counts else 0.0,
    }


def _calibration(
    page_shares: Sequence[tuple[Page, float, bool]], half: str, seed: int
) -> dict[str, Figures]:
    """How often a page has itself what so large a share of its kind has; pages are drawn anew."""
    figures: dict[str, Figures] = {}
    for low, high in pairwise(_SHARES):
        own: dict[str, list[bool]] = {}
        for page, share, is_here in page_shares:
            if page.half == half and low <= share < high:
                own.setdefault(page.id, []).append(is_here)
        if own:
            rows = np.array([[float(sum(each)), float(len(each))] for each in own.values()])
            drawn = (
                np.random.default_rng(seed).multinomial(
                    len(rows), np.full(len(rows), 1 / len(rows)), size=DRAWS
                )
                @ rows
            )
            ends = np.quantile(drawn[:, 0] / drawn[:, 1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            figures[f"{half}, {low:.0%} to {min(high, 1.0):.0%}"] = {
                "n": rows[:, 1].sum(),
                "has it too": rows[:, 0].sum() / rows[:, 1].sum(),
                "from": ends[0],
                "to": ends[1],
            }
    return figures
