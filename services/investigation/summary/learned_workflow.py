"""A learned workflow: a page, its reading, and the bindings of its steps."""

from collections.abc import Mapping

from services.execution.bindings.binding import Binding, conditions_of, step_key
from services.kit.value import Value
from services.runbook.lowering import lower
from services.runbook.model import Procedure, Reader, Reading
from services.workflow.model import StepKind, Workflow

VERSION = "summary-1"
"""Version of the summary, in the readings that it writes."""
NOWHERE = "learned/page.md"
"""Id of the document before it is stored."""


class LearnedWorkflow(Value):
    """A page that was written from traces, with a reading that cites its lines."""

    title: str
    labels: Mapping[str, str]
    """Labels that all tickets had, and that tell them from others: `alertname`."""
    text: str
    procedure: Procedure
    by_node: Mapping[str, Binding]
    """Bindings of the steps, by node of the reading; their `step` is empty."""
    tickets: tuple[str, ...]
    """Ids of the tickets whose traces it was learned from; of one alone, one path was seen."""
    by_model: str = ""
    """Name of the model that drew it; empty for the rules."""

    @property
    def learned_from(self) -> int:
        """Number of tickets that it was learned from."""
        return len(self.tickets)

    @property
    def reading(self) -> Reading:
        """Reading that is proposed with the page."""
        reader = Reader.MODEL if self.by_model else Reader.IMPORTED
        return Reading(
            reader=reader, version=VERSION, model=self.by_model, procedures=(self.procedure,)
        )

    def workflow(self, document_id: str = NOWHERE) -> Workflow:
        """Return the workflow, its steps citing this document."""
        return lower(self.procedure, document_id)

    def bindings(self, document_id: str = NOWHERE) -> tuple[Binding, ...]:
        """Return the bindings of the workflow's steps, approved by nobody."""
        return tuple(
            self.by_node[step.node].model_copy(update={"step": step.id})
            for step in self.workflow(document_id).steps
            if step.kind is not StepKind.TERMINAL and step.node in self.by_node
        )

    def bindings_by_key(self, document_id: str) -> dict[str, Binding]:
        """Return the bindings by the keys of their steps; see `bindings.binding.step_key`."""
        workflow = self.workflow(document_id)
        return {
            step_key(workflow.by_id[each.step], conditions_of(workflow, each.step)): each
            for each in self.bindings(document_id)
        }
