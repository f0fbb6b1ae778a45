"""What the pages of knowledge ask."""

from dataclasses import dataclass
from typing import Any

from fastapi.responses import HTMLResponse

from services.contracts.composing import Composing
from services.contracts.coverage import Covering
from services.contracts.execution import Execution, OrphanedBinding
from services.contracts.proposals import Proposals, ProposalState
from services.contracts.readings import Readings
from services.gateway.coverage.queries import Coverages
from services.gateway.knowledge import Knowledge
from services.gateway.ticket.citations import Citations
from services.gateway.ui.templates import render
from services.kit.access.caller import current_caller
from services.kit.errors import FlowXpertError, UnavailableError


@dataclass(frozen=True)
class Known:
    """The services, where the gateway was given them, and what it knows itself."""

    given: Knowledge | None
    coverage: Coverages
    citations: Citations
    covering: Covering
    execution: Execution | None = None

    @property
    def services(self) -> Knowledge:
        """Those that hold what is known; raises `NoKnowledgeError`."""
        if self.given is None:
            raise NoKnowledgeError("this gateway knows no ingestion and no retrieval to ask")
        return self.given

    def readings(self) -> Readings:
        """On behalf of whoever asks for the page; raises as `services` does."""
        return self.services.readings(current_caller())

    def proposals(self) -> Proposals:
        """Likewise; raises as `services` does."""
        return self.services.proposals

    def composing(self) -> Composing:
        """What drafts procedures and edits of sentences; raises as `services` does."""
        if self.services.composing is None:
            raise NoKnowledgeError("this gateway knows no planner to compose with")
        return self.services.composing

    def orphaned_bindings(self, document_id: str) -> list[OrphanedBinding]:
        """What was approved for steps of a page that are gone; none where nobody can tell."""
        try:
            return self.execution.orphaned_bindings(document_id) if self.execution else []
        except FlowXpertError:
            return []

    def page(self, template: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
        """The template as a page of the room, with the number of pages that wait there."""
        return render(template, status_code=status_code, waiting=self._waiting(), **values)

    def _waiting(self) -> int:
        """0 also where nobody can tell: the page is shown all the same."""
        try:
            return len(self.proposals().proposals(ProposalState.PROPOSED))
        except FlowXpertError:
            return 0


class NoKnowledgeError(UnavailableError):
    """This gateway was started without the services that hold what is known."""
