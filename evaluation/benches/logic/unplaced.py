"""What of a page is in no step of a reading, before and after the reader was asked for it."""

from collections import Counter
from collections.abc import Iterable

from evaluation.measures.figures import Figures
from services.knowledge.model import Document
from services.knowledge.page.parsing import parse_page
from services.knowledge.screening.document import ScreenedDocument
from services.runbook.checking.unplaced import UnplacedKind, unplaced_blocks
from services.runbook.model import Reading


def unplaced_figures(readings: Iterable[tuple[Document, Reading]]) -> Figures:
    """Return the mean number of blocks in no step, by kind, and of pages with one."""
    counts: list[Counter[UnplacedKind]] = []
    warnings = 0
    for document, reading in readings:
        page = parse_page(ScreenedDocument(document).for_model().text)
        missing = unplaced_blocks(reading.procedures, reading.left_out, page)
        counts.append(Counter(each.kind for each in missing))
        warnings += sum(each.is_warning for each in missing)
    if not counts:
        return {}
    n = len(counts)
    by_kind = {kind.value: round(sum(c[kind] for c in counts) / n, 2) for kind in UnplacedKind}
    pages = sum(bool(each) for each in counts)
    return {"n": n, **by_kind, "warnings": round(warnings / n, 2), "pages with one": pages}
