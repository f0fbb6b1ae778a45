"""What a ticket system is told: in a few lines which workflow is ready, and where to read it."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.contracts.ticket import Fit
from services.workflow.model import Step, Workflow

SHOWN_STEPS = 10
SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class ReadyNote:
    """A workflow that is ready for a ticket."""

    ticket: TicketDetail
    stored: StoredWorkflow
    url: str
    """The ticket's page; empty where nobody said how people reach it."""

    @property
    def key(self) -> str:
        """The same for the same workflow of the same ticket, however often it is told."""
        return f"{self.ticket.id}:{self.stored.id}"

    @property
    def is_sure(self) -> bool:
        """Whether the procedure surely fits."""
        return self.stored.fit is Fit.SURE

    @property
    def headline(self) -> str:
        """The workflow in one line."""
        workflow = self.stored.workflow
        lead = "Workflow ready" if self.is_sure else "Closest known procedure, not sure"
        return _short(f"FlowXpert: {lead}: {workflow.title} ({len(workflow.steps)} steps)")

    @property
    def lines(self) -> tuple[str, ...]:
        """Doubts, the first steps, and the link."""
        doubts = [] if self.is_sure else [f"Not sure: {said}" for said in self.stored.against]
        workflow = self.stored.workflow
        numbers = {step.id: n for n, step in enumerate(workflow.steps, start=1)}
        told = [_told(workflow, step, numbers) for step in workflow.steps[:SHOWN_STEPS]]
        rest = len(workflow.steps) - SHOWN_STEPS
        more = [f"… and {rest} more"] if rest > 0 else []
        return (*doubts, *told, *more, *([self.url] if self.url else []))

    @property
    def text(self) -> str:
        """Headline and lines as plain text."""
        return "\n".join((self.headline, *self.lines))


def _told(workflow: Workflow, step: Step, numbers: Mapping[str, int]) -> str:
    """A step by the number that it has on the page, and where each answer leads.

    Where a step does not lead to the next one, it says to which.
    """
    number, exits = numbers[step.id], workflow.exits(step.id)
    leads = [
        f"{edge.condition or 'then'}: {numbers[edge.target]}"
        for edge in exits
        if edge.condition or numbers[edge.target] != number + 1
    ]
    text = f"{number}. {_short(step.text)}"
    return f"{text} ({', '.join(leads)})" if leads else text


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[: SHOWN_CHARACTERS - 1]}…"
