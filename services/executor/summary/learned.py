"""What was learned: a page, its reading, and what carries its steps out."""

from collections.abc import Mapping

from services.executor.bindings.binding import Binding, step_key
from services.kit.value import Value
from services.procedure.lowering import lower
from services.procedure.model import Procedure, Reader, Reading
from services.workflow.model import StepKind, Workflow

VERSION = "summary-1"
"""Of the summary, in the readings that it writes."""
NOWHERE = "learned/page.md"
"""The document while it is none."""


class Learned(Value):
    """A page that was written from traces; its reading cites the page's lines."""

    title: str
    labels: Mapping[str, str]
    """What all tickets had, and told them from others: `alertname`."""
    text: str
    procedure: Procedure
    by_node: Mapping[str, Binding]
    """What carries the steps out, by the node of the reading; `step` is empty."""
    tickets: tuple[str, ...]
    """Ids of those whose traces it was learned from; one alone: one path was seen."""
    by_model: str = ""
    """The model that drew it; empty: rules."""

    @property
    def learned_from(self) -> int:
        """How many tickets."""
        return len(self.tickets)

    @property
    def reading(self) -> Reading:
        """As it is proposed."""
        reader = Reader.MODEL if self.by_model else Reader.IMPORTED
        return Reading(
            reader=reader, version=VERSION, model=self.by_model, procedures=(self.procedure,)
        )

    def workflow(self, document_id: str = NOWHERE) -> Workflow:
        """Lowered, its steps citing this document."""
        return lower(self.procedure, document_id)

    def bindings(self, document_id: str = NOWHERE) -> tuple[Binding, ...]:
        """Of the workflow's steps, approved by nobody."""
        return tuple(
            self.by_node[step.node].model_copy(update={"step": step.id})
            for step in self.workflow(document_id).steps
            if step.kind is not StepKind.TERMINAL and step.node in self.by_node
        )

    def keyed(self, document_id: str) -> dict[str, Binding]:
        """The bindings by what their steps say; see `bindings.binding.step_key`."""
        workflow = self.workflow(document_id)
        return {
            step_key(
                workflow.by_id[each.step],
                frozenset(edge.condition for edge in workflow.exits(each.step)),
            ): each
            for each in self.bindings(document_id)
        }
