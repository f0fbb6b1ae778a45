"""Pages that the page of a ticket leads to: what its links open, and the page that stands open."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query
from fastapi.responses import Response

from services.contracts.adoption import MOST_WORDS, PageBeside, PartOfMark, StepState
from services.contracts.ingestion import LONGEST_LINK, MOST_LINKS, Ingestion, LinkQuery
from services.gateway.ports import Adoption
from services.gateway.ticket.addresses import MAX_ID_CHARACTERS, Id
from services.gateway.ui.forms import SentFields, form, query_of, show
from services.gateway.ui.page_links import LinkedPages, PageLinks
from services.gateway.ui.pictures import links_with_pictures, pictures_from
from services.gateway.ui.ticket.checklist import Checklist, checklist_of
from services.gateway.ui.ticket.views import NumberedStep, numbered_steps
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError
from services.kit.text import clean_text
from services.knowledge.document.links import linked_path
from services.knowledge.page.block import Page
from services.procedure.checklist.shown import page_of
from services.workflow.model import Workflow

REGION = "beside-"
"""Begins the anchors of the page that stands open beside the ticket's own."""

Document = Annotated[str, Query(max_length=1024)]
Part = Annotated[str, Query(max_length=400)]
_Words = Annotated[str, Form(max_length=MOST_WORDS)]


@dataclass(frozen=True)
class Address:
    """The page of a ticket, showing one of its candidates, with a page beside it or none."""

    ticket_id: str
    candidate: str = ""
    """Empty of the one that the ticket shows by itself."""
    document: str = ""
    part: str = ""
    """The fragment of the link that led to the document."""

    @property
    def alone(self) -> str:
        """Where no page stands beside it."""
        return self._with({"candidate": self.candidate})

    @property
    def here(self) -> str:
        """With all that it shows."""
        return self._with({"candidate": self.candidate, "beside": self.document, "part": self.part})

    @property
    def kept(self) -> str:
        """Query by which a form of the ticket's own workflow comes back to here."""
        return query_of({"beside": self.document, "part": self.part})

    @property
    def marks(self) -> str:
        """Where forms of the page beside it are sent."""
        fields = {"candidate": self.candidate, "beside": self.document, "part": self.part}
        return f"/tickets/{quote(self.ticket_id, safe='')}/beside/marks{query_of(fields)}"

    def beside(self, document: str, fragment: str = "") -> str:
        """Where another document stands beside it, in sight."""
        there = self._with({"candidate": self.candidate, "beside": document, "part": fragment})
        return f"{there}#{REGION}part" if fragment else f"{there}#beside"

    def _with(self, fields: dict[str, str]) -> str:
        return f"/tickets/{quote(self.ticket_id, safe='')}{query_of(fields)}"


@dataclass(frozen=True)
class Beside:
    """The page that stands open beside the ticket's own."""

    at: Address
    page: PageBeside | None = None
    """None where ingestion does not answer."""
    checklist: Checklist | None = None
    steps: Sequence[NumberedStep] = ()
    part: str = ""
    """The key of the heading that the link led to; empty where there is none."""

    @property
    def title(self) -> str:
        """What it is called."""
        return (self.page.title if self.page else "") or self.at.document


class PagesAround:
    """The pages that the page of a ticket leads to, and those that they lead to."""

    def __init__(
        self, ingestion: Ingestion | None, adoption: Adoption, at: Address, workflow: Workflow
    ) -> None:
        """`at` is where the ticket's page stands, and says which page stands beside it.

        Beside a page that is mostly links stands the first that it leads to, unless `at` says
        another one.
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
        """Those of which a box was marked on the ticket; none where nobody can tell."""
        if self._ingestion is None:
            return ()
        try:
            return self._adoption.marked_beside(self.at.ticket_id)
        except FlowXpertError:
            return ()

    def links(self) -> PageLinks | None:
        """Return the links of the page of a checklist; None of any other workflow."""
        return self._links(page_of(self._workflow), self._own) if self._own else None

    def beside(self) -> Beside | None:
        """Return the page that stands beside the one of a checklist; None where none does."""
        at = self.at
        if self._ingestion is None or not self._own or at.document in {"", self._own}:
            return None
        try:
            page = self._adoption.beside(at.ticket_id, at.document, heading=at.part)
        except FlowXpertError:
            return Beside(at)
        if page.workflow is None:
            return Beside(at, page)
        links = self._links(page_of(page.workflow), at.document, region=REGION)
        steps = numbered_steps(page.workflow, page.work)
        checklist = checklist_of(page.workflow, steps, links)
        return Beside(at, page, checklist, steps, links.heading(at.part) if at.part else "")

    def _links(self, page: Page, document_id: str, *, region: str = "") -> PageLinks:
        """Return the links of a page; they lead away where nobody can tell the documents."""
        written = (each for each in page.link_targets if len(each) <= LONGEST_LINK)
        inside = [each for each in written if linked_path(each, document_id)]
        query = LinkQuery(document_id=document_id, links=tuple(inside[:MOST_LINKS]))
        linked: LinkedPages | None = None
        if self._ingestion is not None:
            with suppress(FlowXpertError):
                documents = self._ingestion.linked(query) if inside else {}
                linked = LinkedPages(documents, self._address, self.progress)
        pictures = pictures_from(self._ingestion)
        return links_with_pictures(page, document_id, pictures, linked=linked, region=region)

    def _address(self, document: str, fragment: str) -> str:
        is_own = document == self._own
        return "#workflow" if is_own else self.at.beside(document, fragment)

    @cached_property
    def progress(self) -> dict[str, str]:
        """How far the work on each page is of which a box was marked, by document."""
        return {
            page.document_id: f"{page.settled} of {page.work.total} done on it"
            for page in self.marked
            if page.workflow is not None
        }


def create_beside_forms(adoption: Adoption) -> APIRouter:
    """Return the form of the boxes of a page beside, over what takes the work down."""
    router = APIRouter(include_in_schema=False)

    @router.post("/tickets/{ticket_id}/beside/marks")
    @form()
    @needs(Need.OPERATE)
    def mark_beside(  # noqa: PLR0917 - FastAPI passes them by name
        sent: SentFields,
        ticket_id: Id,
        beside: Document,
        step: Annotated[str, Form(max_length=400)],
        candidate: Annotated[str, Query(max_length=MAX_ID_CHARACTERS)] = "",
        part: Part = "",
        state: Annotated[StepState | None, Form()] = None,
        why: Annotated[str | None, Form(max_length=MOST_WORDS)] = None,
        seen: _Words = "",
        was: _Words = "",
    ) -> Response:
        """Take down what was done with a box; what the form does not say stays."""
        note = clean_text(seen).strip() if "seen" in sent else None
        mark = PartOfMark(state=state, why=why, seen=note, was=was)
        page = adoption.mark_beside(ticket_id, beside, step, mark)
        keys = [each.id for each in page.workflow.steps] if page.workflow else []
        number = f"{REGION}{keys.index(step) + 1}" if step in keys else ""
        query = query_of({"candidate": candidate, "beside": beside, "part": part})
        return show("tickets", ticket_id, at=f"{query}#{'step-' if number else 'beside'}{number}")

    return router
