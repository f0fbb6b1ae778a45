"""The pages of what is known: readings, proposed pages, documents, incidents, what is missing."""

from fastapi import APIRouter

from services.gateway.ui.knowledge.composing.pages import create_compose_pages
from services.gateway.ui.knowledge.coverage.pages import create_coverage_pages
from services.gateway.ui.knowledge.documents.forgetting import create_forget_pages
from services.gateway.ui.knowledge.documents.pages import create_document_pages
from services.gateway.ui.knowledge.documents.picture_file import create_picture_file
from services.gateway.ui.knowledge.documents.upload import create_upload_pages
from services.gateway.ui.knowledge.graph.pages import create_incident_pages
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.proposals.pages import create_proposal_pages
from services.gateway.ui.knowledge.readings.boxes import create_box_form_of_page
from services.gateway.ui.knowledge.readings.forms import create_reading_forms
from services.gateway.ui.knowledge.readings.owners import create_owner_form
from services.gateway.ui.knowledge.readings.pages import create_reading_pages
from services.gateway.ui.knowledge.readings.step_pages import create_step_pages
from services.gateway.ui.knowledge.readings.words.pages import create_worded_pages


def create_knowledge_pages(known: Known) -> list[APIRouter]:
    """All of them, over what is known."""
    return [
        create_reading_pages(known),
        create_step_pages(known),
        create_worded_pages(known),
        create_compose_pages(known),
        create_reading_forms(known),
        create_box_form_of_page(known),
        create_owner_form(known),
        create_proposal_pages(known),
        create_document_pages(known),
        create_picture_file(known),
        create_forget_pages(known),
        create_upload_pages(known),
        create_incident_pages(known),
        create_coverage_pages(known),
    ]
