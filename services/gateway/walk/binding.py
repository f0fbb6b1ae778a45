"""Placeholders of commands, filled with what the labels of the ticket say."""

from collections.abc import Iterable, Mapping

from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketDraft
from services.gateway.ticket.gap_values import gap_values
from services.workflow.commands import fill
from services.workflow.model import Workflow


def filled(ranked: Iterable[ScoredCandidate], ticket: TicketDraft) -> tuple[ScoredCandidate, ...]:
    """The candidates with what the ticket says in place of placeholders.

    Done last: what was judged is what the page says, whatever ticket it was judged for.
    """
    values = gap_values(ticket)
    return tuple(
        each.model_copy(
            update={
                "candidate": each.candidate.model_copy(
                    update={"workflow": bound(each.candidate.workflow, values)}
                )
            }
        )
        for each in ranked
    )


def bound(workflow: Workflow, values: Mapping[str, str]) -> Workflow:
    """The workflow with the placeholders of its commands filled where there is a value for them."""
    if not values:
        return workflow
    steps = tuple(
        step.model_copy(update={"commands": tuple(fill(c, values) for c in step.commands)})
        if step.commands
        else step
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": steps})
