"""Pages of the knowledge base: readings, proposals, documents, incidents and coverage."""

from fastapi import APIRouter

from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.composing import create_compose_pages
from services.web.ui.knowledge.coverage import create_coverage_pages
from services.web.ui.knowledge.documents import (
    create_document_pages,
    create_picture_router,
    create_removal_pages,
    create_upload_pages,
)
from services.web.ui.knowledge.graph import create_incident_pages
from services.web.ui.knowledge.proposals import create_proposal_pages
from services.web.ui.knowledge.readings.boxes import create_box_correction_form
from services.web.ui.knowledge.readings.pages import (
    create_block_forms,
    create_owner_form,
    create_reading_forms,
    create_reading_pages,
    create_review_form,
)
from services.web.ui.knowledge.readings.take_over import create_suggestion_forms
from services.web.ui.knowledge.readings.words_pages import create_plain_edit_pages
from services.web.ui.knowledge.teaching import create_teaching_pages


def create_knowledge_pages(backend: KnowledgeBackend) -> list[APIRouter]:
    """Build the routers of all pages of the knowledge base."""
    return [
        create_reading_pages(backend),
        create_block_forms(backend),
        create_plain_edit_pages(backend),
        create_compose_pages(backend),
        create_reading_forms(backend),
        create_box_correction_form(backend),
        create_suggestion_forms(backend),
        create_owner_form(backend),
        create_review_form(backend),
        create_proposal_pages(backend),
        create_document_pages(backend),
        create_picture_router(backend),
        create_removal_pages(backend),
        create_upload_pages(backend),
        create_incident_pages(backend),
        create_coverage_pages(backend),
        *([create_teaching_pages(backend, backend.teaching)] if backend.teaching else []),
    ]
