"""Are pages that were broken on purpose found, and are others left alone?

All pages of a corpus are ingested. Runs are written down for the sample in which targets could not
be reached or answered as they should, and people's edits are imitated by lines taken out of other
pages: none of that speaks against a page. What is found then is held against it as a false alarm.
Then the sample is broken, and what is found of each broken page at its line counts.
"""

import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from evaluation.benches.staleness.runs import answered_run, failed_run, unreachable_run
from evaluation.benches.staleness.world import (
    Break,
    Broken,
    Sample,
    break_pages,
    is_made_dead,
    sample_of,
)
from evaluation.measures.bootstrap import intervals
from evaluation.measures.figures import Figures, Report
from services.contracts.coverage import FindingKind, PageFinding, PagesToMend
from services.deployment.embedded import Embedded
from services.kit.access.caller import LOCAL, acting_as
from services.kit.files import read_text
from services.kit.settings import PlatformSettings

WEEKS = 12
EDITED_SHARE, LINES_SHARE = 0.1, 0.1
"""Pages that somebody edits meanwhile, and the lines that each of them loses."""
_KIND = {
    Break.NAME: FindingKind.NAME_GONE,
    Break.LINK: FindingKind.LINK_DEAD,
    Break.COMMAND: FindingKind.COMMAND_FAILS,
}
Say = Callable[[str], None]


def measure(corpus: Path, folder: Path, seed: int, say: Say) -> Report:
    """The pages below `corpus`; `folder` keeps a copy of them and the platform's data."""
    begun = time.monotonic()
    root = folder / "pages"
    shutil.copytree(corpus, root, copy_function=shutil.copyfile)
    sample = sample_of(corpus)
    sampled = {each.page for each in sample.broken} | set(sample.others)
    with _opened(folder) as platform:
        platform.ingestion.ingest_here(root)
        say(f"{len(sampled)} pages are looked at")
        for page in sorted(sampled):
            unreachable_run(platform, root, page)
            answered_run(platform, root, page)
        _edit_others(sample, root, random.Random(seed))  # noqa: S311 - a sample
        platform.ingestion.ingest_here(root)
        before = _fetch_findings(platform)
        break_pages(sample, root)
        platform.ingestion.ingest_here(root)
        for each in sample.broken:
            if each.kind is Break.COMMAND:
                failed_run(platform, root, each.page)
        after = _fetch_findings(platform)
    return _report(sample, before, after, seed, time.monotonic() - begun)


def _report(
    sample: Sample,
    before: Sequence[PageFinding],
    after: Sequence[PageFinding],
    seed: int,
    seconds: float,
) -> Report:
    broken = {each.page: each for each in sample.broken}
    hits = {page: any(_is_of(each, f) for f in after) for page, each in broken.items()}
    false_before = {f.document_id for f in before}
    false_after = {
        f.document_id
        for f in after
        if not is_made_dead(sample, f.document_id, f.said)
        and not (f.document_id in broken and _is_of(broken[f.document_id], f))
    }
    sets = {
        kind.value: _share([hits[page] for page, e in broken.items() if e.kind is kind], seed)
        for kind in Break
    }
    sets["all that were broken"] = _share(list(hits.values()), seed)
    alarms = {
        "unbroken": _share([page in false_before for page in broken], seed),
        "the same, broken, for something else": _share([p in false_after for p in broken], seed),
        "others": _share([page in false_after for page in sample.others], seed),
    }
    findings = [f for f in (*before, *after) if f.document_id in {*broken, *sample.others}]
    return Report(
        benchmark="stale pages",
        overall=sets["all that were broken"],
        sets=sets,
        config={"weeks": WEEKS, "seed": seed},
        seconds=seconds,
        mean_over="pages",
        false_alarms=alarms,
        missed=[
            vars(broken[page]) | {"lines": sorted(broken[page].lines)}
            for page, is_hit in hits.items()
            if not is_hit
        ],
        told=[f.model_dump(mode="json") for f in findings],
    )


def _is_of(broken: Broken, finding: PageFinding) -> bool:
    at_line = any(finding.start_line <= line <= finding.end_line for line in broken.lines)
    return finding.document_id == broken.page and finding.kind is _KIND[broken.kind] and at_line


def _share(hits: Sequence[bool], seed: int) -> Figures:
    """The share with its interval."""
    (interval,) = intervals([np.asarray([[float(hit)] for hit in hits])], seed)
    return {"n": len(hits), "share": interval.mean, "low": interval.low, "high": interval.high}


@contextmanager
def _opened(folder: Path) -> Iterator[Embedded]:
    with (
        Embedded(PlatformSettings(data_dir=folder / "data")) as platform,
        acting_as(LOCAL),
    ):
        yield platform


def _edit_others(sample: Sample, root: Path, draw: random.Random) -> None:
    """Lines go from pages that are not of the sample, as when somebody edits them."""
    kept = {each.page for each in sample.broken} | set(sample.others)
    pages = [p for p in sorted(root.rglob("*.md")) if p.relative_to(root).as_posix() not in kept]
    for path in draw.sample(pages, round(EDITED_SHARE * len(pages))):
        lines = read_text(path, errors="replace").split("\n")
        path.write_text("\n".join(_thinned(lines, draw)))


def _thinned(lines: Iterable[str], draw: random.Random) -> Iterator[str]:
    return (line for line in lines if draw.random() >= LINES_SHARE)


def _fetch_findings(platform: Embedded) -> tuple[PageFinding, ...]:
    """Return all findings of the platform about pages."""
    with TestClient(platform.app, base_url="http://127.0.0.1") as client:
        response = client.get("/v1/coverage/pages", params={"weeks": WEEKS})
    response.raise_for_status()
    pages = PagesToMend.model_validate(response.json()).pages
    return tuple(finding for page in pages for finding in page.findings)
