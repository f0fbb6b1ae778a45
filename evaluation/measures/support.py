"""Whether the lines a step cites say what the step says: looked up, not believed."""

from services.grounding.evidence import Evidence, Unit, units_of_page
from services.grounding.grounder import Grounder, RecentVectors
from services.knowledge.ports import DocumentStore
from services.workflow.model import Workflow


class SupportCheck:
    """Reads the cited documents from the store, each once."""

    def __init__(self, documents: DocumentStore, vectors: RecentVectors) -> None:
        """A document that is not in the store supports nothing."""
        self._documents = documents
        self._vectors = vectors
        self._units: dict[str, tuple[Unit, ...]] = {}

    def share(self, workflow: Workflow) -> float:
        """The share of the steps whose cited lines support their text.

        Implied steps (`Resolved`, `Did that help?`) claim no line and are left out.
        """
        cited = {c.document_id for step in workflow.steps for c in step.citations}
        evidence = Evidence([unit for name in sorted(cited) for unit in self._of(name)])
        (grounded,) = Grounder(evidence, self._vectors).ground([workflow])
        supported = [
            grounded_step.claimed for grounded_step in grounded if not grounded_step.step.implied
        ]
        return sum(supported) / len(supported) if supported else 0.0

    def _of(self, document_id: str) -> tuple[Unit, ...]:
        if document_id not in self._units:
            document = self._documents.get(document_id)
            self._units[document_id] = (
                tuple(units_of_page(document_id, document.for_person().text)) if document else ()
            )
        return self._units[document_id]
