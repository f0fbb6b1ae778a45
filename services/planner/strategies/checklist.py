"""Candidate 0: the page itself, with a box at each of its steps."""

from collections.abc import Iterator
from functools import lru_cache

from services.contracts.planner import SERVED_BY, PlanRequest
from services.contracts.retrieval import PageReading
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.withheld import withheld_lines
from services.procedure.checklist.build import LONGEST_PAGE, build_checklist
from services.workflow.model import ShownPage, Workflow

_REMEMBERED = 256
_Corrections = tuple[tuple[str, bool], ...]


def checklists(request: PlanRequest, pages: list[PageReading]) -> Iterator[Workflow]:
    """Yield the checklist of each of these pages, in their order.

    A page that somebody has read has one too: it stands beside the workflow of its reading.
    """
    for page in pages:
        stored = page.stored_text or page.text
        if stored.strip() and len(stored) <= LONGEST_PAGE:
            shown = ShownPage(
                document_id=page.document_id,
                title=page.title,
                text=stored,
                withheld=withheld_lines(stored, page.text),
            )
            made = _built(shown, tuple(sorted(page.boxes.items())))
            yield _signed(made, page, request)


@lru_cache(maxsize=_REMEMBERED)
def _built(shown: ShownPage, corrections: _Corrections) -> Workflow:
    page = parse_page(shown.text, withheld=shown.withheld)
    return build_checklist(page, shown, planner=SERVED_BY, corrections=dict(corrections))


def _signed(workflow: Workflow, page: PageReading, request: PlanRequest) -> Workflow:
    origin = workflow.provenance
    if origin is None:
        return workflow
    nodes = (hit.node for hit in request.context.nodes)
    own = tuple(node.id for node in nodes if page.document_id in node.document_ids)
    signed = origin.model_copy(update={"node_ids": own, "page_origin": page.origin})
    return workflow.model_copy(update={"provenance": signed})
