"""Boxes of a page that nobody has read, as tickets show them, for its owner to correct."""

from dataclasses import replace
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import Response

from services.contracts.adoption import NO_WORK
from services.contracts.execution import OrphanedBinding
from services.contracts.readings import BoxCorrection, ReadingDetail
from services.kit.access.needs import Need, needs
from services.runbook.checklist.build import checklist_of_page
from services.runbook.checklist.places import box_with_commands
from services.runbook.checklist.shown import page_of
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.page_links import links_with_pictures, pictures_from
from services.web.ui.ticket.checklist import checklist_of
from services.web.ui.ticket.views import number_steps
from services.workflow.model import Workflow


class OrphanedBindingAtBox(NamedTuple):
    """A binding whose step is gone, and the box for which it is proposed again."""

    orphan: OrphanedBinding
    box: str = ""
    """First instruction of the box; empty unless exactly one box has its commands."""


def create_box_correction_form(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the form that corrects boxes of pages."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/boxes")
    @form_route()
    @needs(Need.APPROVE)
    def box_of_document(
        document: Annotated[str, Query(max_length=1024)],
        key: Annotated[str, Form(max_length=40)],
        is_step: Annotated[bool | None, Form()] = None,
    ) -> Response:
        """Store whether a block is a step for tickets to come; None removes the correction."""
        backend.readings().correct_box(
            BoxCorrection(document_id=document, key=key, is_step=is_step)
        )
        text_hash = backend.services.ingestion.contents(document).document.text_hash
        query = urlencode({"document": document})
        return redirect_to("knowledge", "readings", text_hash, at=f"?{query}#at-{key}")

    return router


def boxes_view(backend: KnowledgeBackend, detail: ReadingDetail, document: str) -> dict[str, Any]:
    """Return the page with its boxes and their corrections, if nobody has read it.

    Beside them are the bindings that were approved for steps that are gone. Documents of one text
    have corrections of their own: those of `document` are shown, or of the first one.
    """
    document_id = document if document in detail.documents else next(iter(detail.documents), "")
    if not document_id:
        return {"checklist": None}
    orphans = backend.orphaned_bindings(document_id)
    if detail.reader:
        return {"checklist": None, "orphans": [OrphanedBindingAtBox(each) for each in orphans]}
    contents = backend.services.ingestion.contents(document_id)
    workflow = checklist_of_page(
        contents.shown_page, corrections=contents.boxes, habit=contents.box_habit
    )
    checklist = None
    if workflow:
        pictures = pictures_from(backend.services.ingestion)
        links = links_with_pictures(page_of(workflow), document_id, pictures)
        checklist = checklist_of(workflow, number_steps(workflow, NO_WORK), links)
    return {
        "checklist": replace(checklist, next=None) if checklist else None,
        "corrections": contents.boxes,
        "words_on_boxes": backend.readings().box_corrections(document_id) if contents.boxes else [],
        "orphans": [
            OrphanedBindingAtBox(each, _box_for_orphan(each, workflow)) for each in orphans
        ],
    }


def _box_for_orphan(orphan: OrphanedBinding, workflow: Workflow | None) -> str:
    """Return the first instruction of the box for which a binding is proposed again, else ""."""
    if workflow is None or orphan.changes:
        return ""
    box = box_with_commands(workflow, orphan.commands)
    return box.text if box else ""
