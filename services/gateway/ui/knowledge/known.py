"""What the pages of knowledge ask."""

from dataclasses import dataclass

from services.contracts.readings import Readings
from services.gateway.coverage.queries import Coverages
from services.gateway.knowledge import Knowledge
from services.gateway.ticket.citations import Citations
from services.kit.access.caller import current_caller
from services.kit.errors import UnavailableError


@dataclass(frozen=True)
class Known:
    """The services, where the gateway was given them, and what it knows itself."""

    given: Knowledge | None
    coverage: Coverages
    citations: Citations

    @property
    def services(self) -> Knowledge:
        """Those that hold what is known; raises `NoKnowledgeError`."""
        if self.given is None:
            raise NoKnowledgeError("this gateway knows no ingestion and no retrieval to ask")
        return self.given

    def readings(self) -> Readings:
        """On behalf of whoever asks for the page; raises as `services` does."""
        return self.services.readings(current_caller())


class NoKnowledgeError(UnavailableError):
    """This gateway was started without the services that hold what is known."""
