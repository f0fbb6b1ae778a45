"""The planner without a model: the readings of the best pages, as graphs for this ticket."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.contracts.planner import SERVED_BY, PlanRequest
from services.contracts.retrieval import RIVAL_SCORE, PageReading
from services.contracts.ticket import TicketDraft
from services.knowledge.document.links import LinkResolver
from services.planner.strategies.joining import chained, continued, is_title, names_a_page
from services.planner.strategies.origin import BEGUN_FROM_BOXES, origin_among
from services.procedure.choose import ranked_procedures
from services.procedure.drawing import draw
from services.procedure.model import Reading
from services.procedure.ports import ReadingState, ServedReading
from services.workflow.model import Provenance, StepKind, Workflow

_RIVAL_PROCEDURE = 0.9
"""What `RIVAL_SCORE` is for pages, for the procedures of one page: below it the ticket names the
other one."""
_LEAST_LINKED = 3
"""Linked pages from which a page is a list of pages."""


@dataclass(frozen=True)
class _Told:
    """One procedure of a page that may be the answer."""

    page: PageReading
    served: ServedReading
    place: int

    @property
    def state(self) -> ReadingState:
        """How far it was checked."""
        return self.served.state(self.place)

    @property
    def is_begun(self) -> bool:
        """Whether it is the boxes of the page in a row, and nobody was asked for its decisions."""
        return self.served.reading.procedures[self.place].begun_from_boxes

    def workflow(self) -> Workflow:
        """Its graph; what its reading doubts is marked."""
        return draw(self.served, self.place, self.page.document_id)


def workflows(request: PlanRequest, *, documents: int) -> Iterator[Workflow]:
    """Competing workflows, that of the most relevant page first.

    A page far less relevant than the best one does not compete, even where the best one describes
    no procedure: an unrelated procedure does harm.
    """
    for page in competing(request.pages)[:documents]:
        if page.served is not None:
            yield from _of_page(page, page.served, request)


def competing(pages: Sequence[PageReading]) -> list[PageReading]:
    """Return the pages that come near the best one in relevance, in their order."""
    best = max((page.score for page in pages), default=0.0)
    return [page for page in pages if page.score > 0 and page.score >= RIVAL_SCORE * best]


def _of_page(page: PageReading, served: ServedReading, request: PlanRequest) -> Iterator[Workflow]:
    """The procedure that treats the fault, and one that may do so just as well.

    A page that says no more than its links is the pages that it links to.
    """
    parts = _linked(page, request)
    told = _treating(page, served, request.ticket)
    if len(parts) >= _LEAST_LINKED and _own_steps(told[:1], parts) <= len(parts):
        whole = chained([part.workflow() for part in parts], title=page.title)
        yield _signed(whole, page, served.reading, parts, request)
        return
    others = [other for other in request.pages if other.document_id != page.document_id]
    linked = {part.page.document_id for part in parts}
    named = {
        other.title: first
        for other in others
        if (first := _first_of(other))
        and names_a_page(other.title, is_linked=other.document_id in linked)
    }
    for each in told:
        workflow, joined = continued(each.workflow(), named)
        yield _signed(workflow, page, served.reading, [each, *joined], request)


def _state(parts: Iterable[_Told]) -> ReadingState:
    """Approved where each procedure that the workflow is made of is."""
    states = {part.state for part in parts}
    return ReadingState.APPROVED if states == {ReadingState.APPROVED} else ReadingState.READ


def _own_steps(told: Sequence[_Told], parts: Sequence[_Told]) -> int:
    """How many steps the page tells beside those that only name a page that it links to."""
    titles = [part.page.title for part in parts]
    steps = (step for each in told for step in each.workflow().steps)
    return sum(s.kind is not StepKind.TERMINAL and not is_title(s.text, titles) for s in steps)


def _treating(page: PageReading, served: ServedReading, ticket: TicketDraft) -> list[_Told]:
    text = "\n".join((ticket.title, ticket.alert_name, ticket.description))
    ranked = ranked_procedures(served.reading.procedures, text)
    bar = _RIVAL_PROCEDURE * ranked[0][1] if ranked else 0.0
    return [_Told(page, served, place) for place, shared in ranked[:2] if shared >= bar]


def _linked(page: PageReading, request: PlanRequest) -> list[_Told]:
    """The pages that this one hands over to, in the order of its links."""
    known = {each.document_id: first for each in request.pages if (first := _first_of(each))}
    resolver = LinkResolver(known)
    nodes = (hit.node for hit in request.context.nodes)
    links = (
        link
        for node in nodes
        if node.document_ids[:1] == (page.document_id,)
        for link in node.linked_documents
    )
    found = dict.fromkeys(resolver.resolve(link) for link in links)
    return [known[id_] for id_ in found if id_ and id_ != page.document_id]


def _first_of(page: PageReading) -> _Told | None:
    """What its reading tells first; None where nobody has read it, or it tells nothing."""
    return _Told(page, page.served, 0) if page.served and page.procedures else None


def _signed(
    workflow: Workflow,
    page: PageReading,
    reading: Reading,
    parts: Sequence[_Told],
    request: PlanRequest,
) -> Workflow:
    """Return the workflow with where it comes from; `parts` are the procedures that it joins."""
    documents = dict.fromkeys(c.document_id for s in workflow.steps for c in s.citations)
    nodes = (hit.node for hit in request.context.nodes)
    origin = origin_among(request.pages, documents or (page.document_id,))
    begun = BEGUN_FROM_BOXES if any(part.is_begun for part in parts) else ""
    provenance = Provenance(
        planner=SERVED_BY,
        version=reading.version,
        model=reading.model,
        reader=reading.reader.value,
        state=_state(parts).value,
        document_ids=tuple(documents) or (page.document_id,),
        page_origin="; ".join(filter(None, (origin, begun))),
        node_ids=tuple(n.id for n in nodes if documents.keys() & set(n.document_ids)),
    )
    return workflow.model_copy(update={"provenance": provenance})
