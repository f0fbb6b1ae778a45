"""Scores of a checklist: the page itself loses nothing, so its relevance alone tells anything."""

from functools import lru_cache

from services.contracts.scorer import Dimension
from services.grounding.evidence import terms_of
from services.knowledge.page.block import BlockKind, plain
from services.knowledge.page.parsing import REMEMBERED_LENGTH, parse_page
from services.scorer.criteria.page_scores import PageScores, Rest
from services.workflow.model import ShownPage, Workflow

REASON = "The page itself, as it is: nothing was drawn, so nothing was lost."
_BEST = 5.0
_REMEMBERED = 1024


def scores_as_it_is(workflow: Workflow, criteria: tuple[str, ...]) -> PageScores:
    """Return what of a checklist's scores hangs on its page alone.

    `criteria` are the names of all dimensions but relevance; each has its best value.

    Raises:
        ValueError: The workflow shows no page.
    """
    if workflow.page is None:
        raise ValueError("expected a checklist, got a workflow without a page")
    terms = _terms if len(workflow.page.text) <= REMEMBERED_LENGTH else _terms_of
    steps = max(1, len(workflow.steps))
    return PageScores(
        page=workflow.page.document_id,
        dimensions=dict.fromkeys(criteria, Dimension(value=_BEST, reason=REASON)),
        told=steps,
        rests={workflow.page.document_id: Rest(steps=steps, support=float(steps))},
        said=terms(workflow.page),
        is_page=True,
    )


def _terms_of(shown: ShownPage) -> frozenset[str]:
    """Return the stemmed words of the sections that stand open, of the whole page without any."""
    page = parse_page(shown.text, withheld=shown.withheld)
    found: set[str] = set()
    for place in page.places():
        block = place.block
        is_open = not shown.open or any(h.key in shown.open for h in (*place.headings, block))
        if not is_open or block.is_withheld or block.kind is BlockKind.FRONT_MATTER:
            continue
        cells = [plain(cell) for row in (block.header, *block.rows) for cell in row]
        for text in (block.text, block.verbatim, *cells):
            found.update(terms_of(text))
    return frozenset(found)


_terms = lru_cache(maxsize=_REMEMBERED)(_terms_of)
