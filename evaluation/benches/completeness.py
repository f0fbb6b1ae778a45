"""Checks that were dropped from pages, and found again by what pages of their kind check.

Pages are of a kind where what they treat is near each other. Of each page the checks that most
others of its kind have are dropped, one to three at a time; what is told of the page as it is may
be right too, and is counted apart.
"""

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from evaluation.benches.scoring.judge_candidates import reference_of
from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import is_fitted
from evaluation.measures.bootstrap import intervals
from evaluation.measures.figures import Figures, Report
from services.knowledge.ports import Embedder
from services.procedure.checks.check import Check, checks_of
from services.procedure.checks.completeness import (
    LEAST_PEERS,
    MOST_PEERS,
    NEAR_PEERS,
    MissingCheck,
    Peer,
    missing_checks,
)
from services.procedure.lowering import lower
from services.procedure.rules import read_by_rules

_MOST_DROPPED = 3
_SHARES = (0.6, 0.7, 0.8, 0.9, 1.01)


@dataclass(frozen=True)
class Page:
    """A page, what it treats in words, and what it checks."""

    about: str
    peer: Peer

    @property
    def id(self) -> str:
        """Of the page."""
        return self.peer.id


def drawn_pages(rows: Sequence[LogicRow]) -> list[Page]:
    """As people drew them, with their tickets."""
    return [
        Page(
            f"{_name(row.page)} {row.draft.title} {row.draft.description[:200]}",
            Peer(row.id, row.page, tuple(checks_of(reference_of(row)))),
        )
        for row in rows
    ]


def read_pages(corpus: Path, sample: int, advance: Callable[[], None]) -> list[Page]:
    """The first procedure of pages as the rules read it, so many by the hash of their paths."""
    paths = sorted(
        corpus.rglob("*.md"), key=lambda path: hashlib.sha256(str(path.name).encode()).hexdigest()
    )
    found: list[Page] = []
    for path in paths:
        if len(found) == sample:
            break
        id_ = path.relative_to(corpus).as_posix()
        procedures = read_by_rules(path.read_text(encoding="utf-8", errors="replace")).procedures
        for procedure in procedures[:1]:
            checks = tuple(checks_of(lower(procedure, id_)))
            if checks:
                about = f"{_name(id_)} {procedure.title} {procedure.treats[:200]}"
                found.append(Page(about, Peer(id_, procedure.title, checks)))
                advance()
    return found


def _name(page: str) -> str:
    return page.rsplit("/", 1)[-1].rpartition(".")[0]


@dataclass(frozen=True)
class Case:
    """A page without some of its checks."""

    page: str
    dropped: tuple[str, ...]
    """As others of its kind say it."""
    told: tuple[MissingCheck, ...]

    @property
    def found(self) -> int:
        """Of those that were dropped."""
        return sum(each.text in self.dropped for each in self.told)


def measure(
    pages: Sequence[Page], embedder: Embedder, seed: int, advance: Callable[[], None]
) -> Report:
    """Over all pages; figures are of odd ids, those of even ones stand beside them."""
    started = time.perf_counter()
    near = _near(pages, embedder)
    cases: list[Case] = []
    undropped: dict[str, list[tuple[MissingCheck, ...]]] = {"even": [], "odd": []}
    held: list[tuple[float, bool]] = []
    few = {"even": 0, "odd": 0}
    told: list[dict[str, object]] = []
    for page in pages:
        half, others = _half(page.id), near[page.id]
        if len(others) < LEAST_PEERS:
            few[half] += 1
        else:
            own = list(page.peer.checks)
            found = missing_checks(own, others, embedder.embed)
            undropped[half].append(found)
            told += [_record(page, each) for each in found]
            common = missing_checks([], others, embedder.embed)
            here = [each for each in common if _has(own, each, others, embedder)]
            held += [(each.share, each in here) for each in common]
            cases += _dropped(page, here, others, embedder, seed)
        advance()
    sets = {half: _figures(cases, undropped[half], few[half], half, seed) for half in undropped}
    return Report(
        benchmark="completeness",
        overall=sets["odd"],
        sets=sets,
        config={"near": NEAR_PEERS, "pages": len(pages), "seed": seed},
        seconds=time.perf_counter() - started,
        mean_over="odd ids",
        shares=_calibration(held),
        told=told,
    )


def _half(id_: str) -> str:
    return "even" if is_fitted(id_) else "odd"


def _record(page: Page, each: MissingCheck) -> dict[str, object]:
    sources = [source.id for source, _ in each.sources]
    return {
        "page": page.id,
        "check": each.text,
        "have": each.have,
        "of": each.of,
        "sources": sources,
    }


def _near(pages: Sequence[Page], embedder: Embedder) -> dict[str, list[Peer]]:
    vectors = embedder.embed([page.about for page in pages])
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    found: dict[str, list[Peer]] = {}
    for place, page in enumerate(pages):
        order = np.argsort(-cosines[place])[:MOST_PEERS]
        found[page.id] = [pages[int(n)].peer for n in order if cosines[place, n] >= NEAR_PEERS]
    return found


def _has(
    own: Sequence[Check], check: MissingCheck, others: Sequence[Peer], embedder: Embedder
) -> bool:
    """Whether it is not told any more once the page's own checks are known."""
    return check.text not in {e.text for e in missing_checks(own, others, embedder.embed)}


def _dropped(
    page: Page,
    here: Sequence[MissingCheck],
    others: Sequence[Peer],
    embedder: Embedder,
    seed: int,
) -> Iterator[Case]:
    """With one, two and three of what it has and most others have taken out, where it has them."""
    draw = random.Random(f"{seed}/{page.id}")  # noqa: S311 - a sample
    own = page.peer.checks
    for number in range(1, min(_MOST_DROPPED, len(here)) + 1):
        chosen = draw.sample(list(here), number)
        left = [c for c in own if not any(_is_told(c, each, others, embedder) for each in chosen)]
        told = missing_checks(left, others, embedder.embed)
        yield Case(page.id, tuple(each.text for each in chosen), told)


def _is_told(
    check: Check, common: MissingCheck, others: Sequence[Peer], embedder: Embedder
) -> bool:
    """Whether this check of the page is the common one."""
    left = missing_checks([check], others, embedder.embed)
    return common.text not in {each.text for each in left}


def _figures(
    cases: Sequence[Case],
    undropped: Sequence[Sequence[MissingCheck]],
    few: int,
    half: str,
    seed: int,
) -> Figures:
    own = [case for case in cases if _half(case.page) == half]
    if not own:
        return {"n": 0}
    rows = np.array(
        [[case.found / len(case.dropped), float(len(case.told) - case.found)] for case in own]
    )
    recall, others = intervals([rows], seed)
    pages = len(undropped) + few
    return {
        "n": len(own),
        "recall": recall.mean,
        "from": recall.low,
        "to": recall.high,
        "others told": others.mean,
        "pages": pages,
        "too few of a kind": few / pages,
        "told of a page as it is": float(
            np.mean([float(len(each)) for each in undropped] or [0.0])
        ),
    }


def _calibration(held: Sequence[tuple[float, bool]]) -> dict[str, Figures]:
    """How often a page has itself what so large a share of its kind has; all ids."""
    found: dict[str, Figures] = {}
    for low, high in pairwise(_SHARES):
        own = [is_here for share, is_here in held if low <= share < high]
        if own:
            name = f"{low:.0%} to {min(high, 1.0):.0%}"
            found[name] = {"n": len(own), "has it too": float(np.mean(own))}
    return found
