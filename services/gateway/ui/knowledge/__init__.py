"""The pages of what is known: readings to check, documents, incidents, and what is missing."""

from services.gateway.ui.knowledge.coverage import pages as coverage
from services.gateway.ui.knowledge.documents import forgetting, upload
from services.gateway.ui.knowledge.documents import pages as documents
from services.gateway.ui.knowledge.graph import pages as graph
from services.gateway.ui.knowledge.readings import forms, owners
from services.gateway.ui.knowledge.readings import pages as readings

ROUTERS = (
    readings.router,
    forms.router,
    owners.router,
    documents.router,
    forgetting.router,
    upload.router,
    graph.router,
    coverage.router,
)
