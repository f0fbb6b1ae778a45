"""What a ticket system is told: in a few lines which workflow is ready, and where to read it."""

from dataclasses import dataclass

from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.contracts.ticket import Fit
from services.workflow.model import StepKind

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
        steps = [s for s in self.stored.workflow.steps if s.kind is not StepKind.TERMINAL]
        told = [f"{n}. {_short(s.text)}" for n, s in enumerate(steps[:SHOWN_STEPS], start=1)]
        more = [f"… and {len(steps) - SHOWN_STEPS} more"] if len(steps) > SHOWN_STEPS else []
        return (*doubts, *told, *more, *([self.url] if self.url else []))

    @property
    def text(self) -> str:
        """Headline and lines as plain text."""
        return "\n".join((self.headline, *self.lines))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[: SHOWN_CHARACTERS - 1]}…"
