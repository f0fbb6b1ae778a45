"""The page open beside a ticket's own page, and the links that lead to such pages."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query
from fastapi.responses import Response

from services.contracts.adoption import MOST_WORDS, MarkPatch, PageBeside, StepState
from services.contracts.ingestion import LONGEST_LINK, MOST_LINKS, Ingestion, LinkQuery
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError
from services.kit.text import clean_text
from services.knowledge.document.links import linked_path
from services.knowledge.page.block import Page
from services.runbook.checklist.shown import page_of
from services.tickets.adoption.service import AdoptionService
from services.tickets.path_ids import TicketId
from services.tickets.ticket.addresses import MAX_ID_CHARACTERS
from services.web.ui.forms import FormFields, form_route, query_string, redirect_to
from services.web.ui.page_links import (
    LinkedDocuments,
    PageLinks,
    links_with_pictures,
    pictures_from,
)
from services.web.ui.ticket.checklist import Checklist, checklist_of
from services.web.ui.ticket.views import NumberedStep, number_steps
from services.workflow.model import Workflow

REGION = "beside-"
"""Prefix of the anchors on the page that is open beside the ticket's own."""

DocumentParam = Annotated[str, Query(max_length=1024)]
FragmentParam = Annotated[str, Query(max_length=400)]
_Words = Annotated[str, Form(max_length=MOST_WORDS)]


@dataclass(frozen=True)
class TicketPageAddress:
    """Address of a ticket's page: the candidate that it shows, and the page beside it if any."""

    ticket_id: str
    candidate: str = ""
    """Id of the candidate; empty for the one that the ticket shows by default."""
    document: str = ""
    part: str = ""
    """The fragment of the link that led to the document."""

    @property
    def alone(self) -> str:
        """The address without a page beside it."""
        return self._with({"candidate": self.candidate})

    @property
    def here(self) -> str:
        """The address with all that it shows."""
        return self._with({"candidate": self.candidate, "beside": self.document, "part": self.part})

    @property
    def kept(self) -> str:
        """The query by which a form of the ticket's own workflow returns here."""
        return query_string({"beside": self.document, "part": self.part})

    @property
    def marks(self) -> str:
        """The address to which forms of the page beside it are sent."""
        fields = {"candidate": self.candidate, "beside": self.document, "part": self.part}
        return f"/tickets/{quote(self.ticket_id, safe='')}/beside/marks{query_string(fields)}"

    def beside(self, document: str, fragment: str = "") -> str:
        """Return the address that shows another document beside the ticket's page."""
        there = self._with({"candidate": self.candidate, "beside": document, "part": fragment})
        return f"{there}#{REGION}part" if fragment else f"{there}#beside"

    def _with(self, fields: dict[str, str]) -> str:
        return f"/tickets/{quote(self.ticket_id, safe='')}{query_string(fields)}"


@dataclass(frozen=True)
class SidePage:
    """The page that is open beside the ticket's own."""

    at: TicketPageAddress
    page: PageBeside | None = None
    """The page; None if ingestion does not answer."""
    checklist: Checklist | None = None
    steps: Sequence[NumberedStep] = ()
    part: str = ""
    """The key of the heading that the link led to; empty if there is none."""

    @property
    def title(self) -> str:
        """The title of the page, or the id of its document."""
        return (self.page.title if self.page else "") or self.at.document


class TicketLinkedPages:
    """The pages that a ticket's page links to, and those that they link to."""

    def __init__(
        self,
        ingestion: Ingestion | None,
        adoption: AdoptionService,
        at: TicketPageAddress,
        workflow: Workflow,
    ) -> None:
        """Collect the links of a ticket's page; `at` is its address, with the page beside it.

        A page that is mostly links gets the first page that it links to beside it, unless `at`
        names another one.
        """
        self._ingestion = ingestion
        self._adoption = adoption
        self._workflow = workflow
        page = workflow.page
        self._own = page.document_id if page else ""
        first = page.links[0] if page and page.links and not at.document else None
        self.at = replace(at, document=first.document_id, part=first.part) if first else at

    @cached_property
    def marked(self) -> tuple[PageBeside, ...]:
        """Linked pages with a box marked on the ticket; empty if they cannot be loaded."""
        if self._ingestion is None:
            return ()
        try:
            return self._adoption.linked_pages.marked(self.at.ticket_id)
        except FlowXpertError:
            return ()

    def links(self) -> PageLinks | None:
        """Return the links of a checklist's page; None for any other workflow."""
        return self._links(page_of(self._workflow), self._own) if self._own else None

    def side_page(self) -> SidePage | None:
        """Return the page beside the page of a checklist; None if there is none."""
        at = self.at
        if self._ingestion is None or not self._own or at.document in {"", self._own}:
            return None
        try:
            page = self._adoption.linked_pages.page(at.ticket_id, at.document, heading=at.part)
        except FlowXpertError:
            return SidePage(at)
        if page.workflow is None:
            return SidePage(at, page)
        links = self._links(page_of(page.workflow), at.document, region=REGION)
        steps = number_steps(page.workflow, page.work)
        checklist = checklist_of(page.workflow, steps, links)
        return SidePage(at, page, checklist, steps, links.heading(at.part) if at.part else "")

    def _links(self, page: Page, document_id: str, *, region: str = "") -> PageLinks:
        """Return the links of a page; they lead away if the documents cannot be resolved."""
        written = (each for each in page.link_targets if len(each) <= LONGEST_LINK)
        inside = [each for each in written if linked_path(each, document_id)]
        query = LinkQuery(document_id=document_id, links=tuple(inside[:MOST_LINKS]))

        def address(document: str, fragment: str) -> str:
            is_own = document == self._own
            return "#workflow" if is_own else self.at.beside(document, fragment)

        linked: LinkedDocuments | None = None
        if self._ingestion is not None:
            with suppress(FlowXpertError):
                documents = self._ingestion.linked(query) if inside else {}
                linked = LinkedDocuments(documents, address, self.progress)
        pictures = pictures_from(self._ingestion)
        return links_with_pictures(page, document_id, pictures, linked=linked, region=region)

    @cached_property
    def progress(self) -> dict[str, str]:
        """Progress of the work on each page with a marked box, in words, by document id."""
        return {
            page.document_id: f"{page.settled} of {page.work.total} done on it"
            for page in self.marked
            if page.workflow is not None
        }


def create_side_page_forms(adoption: AdoptionService) -> APIRouter:
    """Build the router of the form that marks boxes of the page beside the ticket's."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/beside/marks")
    @form_route()
    @needs(Need.OPERATE)
    def mark_beside(  # noqa: PLR0917 - FastAPI passes them by name
        sent: FormFields,
        ticket_id: TicketId,
        beside: DocumentParam,
        step: Annotated[str, Form(max_length=400)],
        candidate: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
        part: FragmentParam = "",
        state: Annotated[StepState | None, Form()] = None,
        why: Annotated[str | None, Form(max_length=MOST_WORDS)] = None,
        seen: _Words = "",
        was: _Words = "",
    ) -> Response:
        """Record what was done with a box; fields that the form does not send stay as they are."""
        note = clean_text(seen).strip() if "seen" in sent else None
        mark = MarkPatch(state=state, why=why, seen=note, was=was)
        page = adoption.linked_pages.mark(ticket_id, beside, step, mark)
        keys = [each.id for each in page.workflow.steps] if page.workflow else []
        number = f"{REGION}{keys.index(step) + 1}" if step in keys else ""
        query = query_string({"candidate": candidate, "beside": beside, "part": part})
        return redirect_to(
            "tickets", ticket_id, at=f"{query}#{'step-' if number else 'beside'}{number}"
        )

    return router
