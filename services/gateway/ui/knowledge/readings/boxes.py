"""The boxes of a page that nobody has read, as tickets show them, for its owner to correct."""

from dataclasses import replace
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import Response

from services.contracts.adoption import NO_WORK
from services.contracts.execution import OrphanedBinding
from services.contracts.readings import BoxCorrection, ReadingDetail
from services.gateway.ui.forms import form, show
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.pictures import PicturesOf, links_with_pictures, pictures_from
from services.gateway.ui.ticket.checklist import Checklist, checklist_of
from services.gateway.ui.ticket.views import numbered_steps
from services.kit.access.needs import Need, needs
from services.procedure.checklist.build import checklist_of_page
from services.procedure.checklist.same_commands import box_with_commands
from services.procedure.checklist.shown import page_of
from services.workflow.model import Workflow


class OrphanAtBox(NamedTuple):
    """A binding whose step is gone, and where it is proposed anew."""

    orphan: OrphanedBinding
    box: str = ""
    """First instruction of the box; empty where no box alone has its commands."""


def create_box_form_of_page(known: Known) -> APIRouter:
    """The form, over what keeps corrections of pages."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/boxes")
    @form()
    @needs(Need.APPROVE)
    def box_of_document(
        document: Annotated[str, Query(max_length=1024)],
        key: Annotated[str, Form(max_length=40)],
        is_step: Annotated[bool | None, Form()] = None,
    ) -> Response:
        """Keep whether a block is a step for tickets to come; nothing takes the word back."""
        known.readings().correct_box(BoxCorrection(document_id=document, key=key, is_step=is_step))
        text_hash = known.services.ingestion.contents(document).document.text_hash
        query = urlencode({"document": document})
        return show("knowledge", "readings", text_hash, at=f"?{query}#at-{key}")

    return router


def boxes_view(known: Known, detail: ReadingDetail, document: str) -> dict[str, Any]:
    """Return the page with its boxes and the corrections of them, where nobody has read it.

    Beside them stands what somebody had approved for steps that are gone. Documents of one text
    have corrections of their own: those of `document` are shown, or of the first one.
    """
    shown = document if document in detail.documents else next(iter(detail.documents), "")
    if not shown:
        return {"checklist": None}
    orphans = known.orphaned_bindings(shown)
    if detail.reader:
        return {"checklist": None, "orphans": [OrphanAtBox(each) for each in orphans]}
    contents = known.services.ingestion.contents(shown)
    workflow = checklist_of_page(
        contents.shown_page, corrections=contents.boxes, habit=contents.box_habit
    )
    pictures = pictures_from(known.services.ingestion)
    return {
        "checklist": _checklist(workflow, shown, pictures) if workflow else None,
        "corrections": contents.boxes,
        "words_on_boxes": known.readings().box_corrections(shown) if contents.boxes else [],
        "orphans": [OrphanAtBox(each, _box_of(each, workflow)) for each in orphans],
    }


def _box_of(orphan: OrphanedBinding, workflow: Workflow | None) -> str:
    """Return the first instruction of the box where it is proposed anew; empty where nowhere."""
    if workflow is None or orphan.changes:
        return ""
    box = box_with_commands(workflow, orphan.commands)
    return box.text if box else ""


def _checklist(workflow: Workflow, document_id: str, pictures: PicturesOf) -> Checklist | None:
    """Return the page with its boxes, none of them marked."""
    links = links_with_pictures(page_of(workflow), document_id, pictures)
    made = checklist_of(workflow, numbered_steps(workflow, NO_WORK), links)
    return replace(made, next=None) if made else None
