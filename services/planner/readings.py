"""Planner without a model: the readings of the best pages, drawn as graphs for this ticket."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from services.contracts.planner import SERVED_BY, PlanRequest
from services.contracts.retrieval import RIVAL_SCORE, PageReading
from services.knowledge.document.links import LinkResolver
from services.language.words import tokenise
from services.planner.checklist import checklists
from services.planner.joining import (
    append_named_pages,
    chain_workflows,
    choose_among,
    is_title,
    names_a_page,
)
from services.runbook.checking.approvals import least_kind, provenance_state
from services.runbook.checklist.shown import page_of
from services.runbook.choose import fits_unread_section, ranked_procedures
from services.runbook.model import Reading
from services.runbook.ports import ApprovalKind, ServedReading
from services.runbook.program import lines_of
from services.runbook.serving import draw
from services.workflow.model import Provenance, StepKind, Workflow

BEGUN_FROM_BOXES = "begun from boxes: nobody was asked for its decisions"


def origin_among(pages: Sequence[PageReading], document_ids: Collection[str]) -> str:
    """Return how the first learned or composed of these documents came about; else empty."""
    origins = (page.origin for page in pages if page.document_id in document_ids)
    return next(filter(None, origins), "")


_RIVAL_PROCEDURE = 0.9
"""Counterpart of `RIVAL_SCORE` for the procedures of one page: below it the ticket names the other
one.
"""
_MOST_RIVALS = 2
_OPEN_SHARE = 0.5
"""Share of a procedure's lines that stand in the sections that the ticket asks for."""
_LEAST_LINKED = 3
"""Number of linked pages from which a page counts as a list of pages."""


@dataclass(frozen=True)
class _PageProcedure:
    """A procedure of a page that may be the answer."""

    page: PageReading
    served: ServedReading
    place: int

    def workflow(self) -> Workflow:
        """Return its graph, with the doubts of its reading marked."""
        return draw(self.served, self.place, self.page.document_id)


def workflows(request: PlanRequest, *, documents: int) -> Iterator[Workflow]:
    """Yield competing workflows, that of the most relevant page first.

    A page far less relevant than the best one does not compete, even where the best one describes
    no procedure: an unrelated procedure does harm.
    """
    for page in competing(request.pages)[:documents]:
        if page.served is not None:
            yield from _workflows_of_page(page, page.served, request)


def competing(pages: Sequence[PageReading]) -> list[PageReading]:
    """Return the pages whose relevance is near the best one's, in their order."""
    best = max((page.score for page in pages), default=0.0)
    return [page for page in pages if page.score > 0 and page.score >= RIVAL_SCORE * best]


def _workflows_of_page(
    page: PageReading, served: ServedReading, request: PlanRequest
) -> Iterator[Workflow]:
    """Yield the procedure that treats the fault, and one that may do so just as well.

    A page that says no more than its links is the pages that it links to.
    """
    parts = _linked_procedures(page, request)
    text = _text_of(request)
    ranked = ranked_procedures(served.reading.procedures, text)
    words = set(tokenise(text))
    titles = [set(tokenise(procedure.title)) for procedure in served.reading.procedures]
    titled = [each for each in ranked if titles[each[0]] and titles[each[0]] <= words]
    of_section = _in_open_sections(ranked, page, request)
    of_section = of_section or (titled if len(titled) == 1 else [])
    bar = _RIVAL_PROCEDURE * of_section[0][1] if of_section else 0.0
    procedures = [
        _PageProcedure(page, served, place)
        for place, shared in (of_section or ranked)
        if not of_section or shared >= bar
    ]
    if len(parts) >= _LEAST_LINKED and _count_own_steps(procedures[:1], parts) <= len(parts):
        whole = chain_workflows([part.workflow() for part in parts], title=page.title)
        yield _with_provenance(whole, page, served.reading, parts, request)
        return
    others = [other for other in request.pages if other.document_id != page.document_id]
    linked = {part.page.document_id for part in parts}
    named = {
        other.title: first
        for other in others
        if (first := _first_procedure(other))
        and names_a_page(other.title, is_linked=other.document_id in linked)
    }
    if procedures and not of_section:
        drawn = [each.workflow() for each in procedures]
        whole = choose_among(drawn, title=page.title) if len(drawn) > 1 else drawn[0]
        workflow, joined = append_named_pages(whole, named)
        yield _with_provenance(workflow, page, served.reading, [*procedures, *joined], request)
        return
    for each in procedures[:_MOST_RIVALS]:
        workflow, joined = append_named_pages(each.workflow(), named)
        yield _with_provenance(workflow, page, served.reading, [each, *joined], request)


def _text_of(request: PlanRequest) -> str:
    """Return the words of the ticket by which a procedure is chosen."""
    ticket = request.ticket
    return "\n".join((ticket.title, ticket.alert_name, ticket.description))


def _in_open_sections(
    ranked: Sequence[tuple[int, float]], page: PageReading, request: PlanRequest
) -> list[tuple[int, float]]:
    """Return the procedures of the sections that the ticket asks for; none if it asks for none."""
    checklist = next(checklists(request, [page]), None) if len(ranked) > 1 else None
    if checklist is None or checklist.page is None:
        return []
    open_lines = {
        line
        for section in page_of(checklist).sections()
        if section.heading and section.heading.key in checklist.page.open
        for line in range(section.start_line, section.end_line + 1)
    }
    cited = [lines_of(procedure) for procedure in page.procedures]
    return [
        (place, shared)
        for place, shared in ranked
        if len(cited[place] & open_lines) >= _OPEN_SHARE * len(cited[place]) > 0
    ]


def _count_own_steps(procedures: Sequence[_PageProcedure], parts: Sequence[_PageProcedure]) -> int:
    """Count the steps of the page besides those that only name a linked page."""
    titles = [part.page.title for part in parts]
    steps = (step for each in procedures for step in each.workflow().steps)
    return sum(
        not s.implied and s.kind is not StepKind.TERMINAL and not is_title(s.text, titles)
        for s in steps
    )


def _linked_procedures(page: PageReading, request: PlanRequest) -> list[_PageProcedure]:
    """Return the procedures of the pages this one hands over to, in the order of its links."""
    by_id = {each.document_id: first for each in request.pages if (first := _first_procedure(each))}
    resolver = LinkResolver(by_id)
    nodes = (hit.node for hit in request.context.nodes)
    links = (
        link
        for node in nodes
        if node.document_ids[:1] == (page.document_id,)
        for link in node.linked_documents
    )
    ids = dict.fromkeys(resolver.resolve(link) for link in links)
    return [by_id[id_] for id_ in ids if id_ and id_ != page.document_id]


def _first_procedure(page: PageReading) -> _PageProcedure | None:
    """Return the first procedure of its reading; None if there is no reading or procedure."""
    return _PageProcedure(page, page.served, 0) if page.served and page.procedures else None


def _with_provenance(
    workflow: Workflow,
    page: PageReading,
    reading: Reading,
    parts: Sequence[_PageProcedure],
    request: PlanRequest,
) -> Workflow:
    """Return the workflow with its provenance; `parts` are the procedures it joins."""
    documents = dict.fromkeys(c.document_id for s in workflow.steps for c in s.citations)
    nodes = (hit.node for hit in request.context.nodes)
    origin = origin_among(request.pages, documents or (page.document_id,))
    kind = least_kind(part.served.kind(part.place) for part in parts)
    is_of_page = any(part.page is page for part in parts)
    if kind and is_of_page and fits_unread_section(reading, page.text, _text_of(request)):
        kind = None
    # A part that is just the page's boxes in a row has no decisions.
    begun = any(p.served.reading.procedures[p.place].begun_from_boxes for p in parts)
    is_silent = begun and kind is not ApprovalKind.WORKFLOW
    origins = filter(None, (origin, BEGUN_FROM_BOXES if is_silent else ""))
    provenance = Provenance(
        planner=SERVED_BY,
        version=reading.version,
        model=reading.model,
        reader=reading.reader.value,
        state=provenance_state(kind),
        document_ids=tuple(documents) or (page.document_id,),
        page_origin="; ".join(origins),
        node_ids=tuple(n.id for n in nodes if documents.keys() & set(n.document_ids)),
    )
    return workflow.model_copy(update={"provenance": provenance})
