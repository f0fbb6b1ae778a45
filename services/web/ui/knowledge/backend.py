"""Services behind the pages of the knowledge base."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi.responses import HTMLResponse

from services.contracts.composing import Compositions
from services.contracts.coverage import CoverageReports
from services.contracts.execution import Execution, OrphanedBinding
from services.contracts.ingestion import Ingestion
from services.contracts.proposals import Proposals, ProposalState
from services.contracts.readings import Readings
from services.contracts.retrieval import Retrieval
from services.contracts.suggestions import SuggestedEdits
from services.contracts.teaching import Teaching
from services.kit.access.caller import Caller, current_caller
from services.kit.errors import FlowXpertError, UnavailableError
from services.tickets.page_quality.queries import CoverageQueries
from services.tickets.ticket.citations import Citations
from services.web.ui.templates import render


@dataclass(frozen=True)
class Knowledge:
    """Clients of the knowledge services: in this process, or over HTTP on behalf of the caller."""

    ingestion: Ingestion
    readings: Callable[[Caller], Readings]
    retrieval: Retrieval
    proposals: Proposals
    composing: Compositions | None = None


@dataclass(frozen=True)
class KnowledgeBackend:
    """The knowledge services, if the gateway has them, and the gateway's own queries."""

    optional_services: Knowledge | None
    coverage: CoverageQueries
    citations: Citations
    covering: CoverageReports
    execution: Execution | None = None
    suggested_edits: SuggestedEdits | None = None
    teaching: Teaching | None = None

    @property
    def services(self) -> Knowledge:
        """The knowledge services; raises `NoKnowledgeError` without them."""
        if self.optional_services is None:
            raise NoKnowledgeError("this gateway knows no ingestion and no retrieval to ask")
        return self.optional_services

    def readings(self) -> Readings:
        """Return the readings, on behalf of the page's caller; raises as `services` does."""
        return self.services.readings(current_caller())

    def composing(self) -> Compositions:
        """Return the service that drafts procedures and edits; raises as `services` does."""
        if self.services.composing is None:
            raise NoKnowledgeError("this gateway knows no planner to compose with")
        return self.services.composing

    @property
    def suggested(self) -> SuggestedEdits:
        """The edits that work on tickets suggests; raises `NoKnowledgeError` without them."""
        if self.suggested_edits is None:
            raise NoKnowledgeError("this gateway knows no pages to suggest edits of")
        return self.suggested_edits

    def orphaned_bindings(self, document_id: str) -> list[OrphanedBinding]:
        """Return the approved bindings of steps that a page no longer has; none if unavailable."""
        try:
            return self.execution.orphaned_bindings(document_id) if self.execution else []
        except FlowXpertError:
            return []

    def page(self, template: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
        """Render a template as a page, with the number of proposals that wait."""
        return render(template, status_code=status_code, waiting=self._count_waiting(), **values)

    def _count_waiting(self) -> int:
        """Return the number of waiting proposals; 0 if unavailable, so that the page is shown."""
        try:
            return len(self.services.proposals.proposals(ProposalState.PROPOSED))
        except FlowXpertError:
            return 0


class NoKnowledgeError(UnavailableError):
    """The gateway was started without the knowledge services."""
