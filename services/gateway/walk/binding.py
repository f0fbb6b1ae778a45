"""Placeholders of commands, filled with what the labels of the ticket say."""

from collections.abc import Iterable, Mapping

from services.contracts.scorer import ScoredCandidate
from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.workflow.commands import fill, values_of
from services.workflow.model import Workflow


def filled(ranked: Iterable[ScoredCandidate], ticket: TicketDraft) -> tuple[ScoredCandidate, ...]:
    """The candidates with what the ticket says in place of placeholders.

    Done last: what was judged is what the page says, whatever ticket it was judged for.
    """
    labels = screened(ticket).ticket.labels
    return tuple(
        each.model_copy(
            update={
                "candidate": each.candidate.model_copy(
                    update={"workflow": bound(each.candidate.workflow, labels)}
                )
            }
        )
        for each in ranked
    )


def bound(workflow: Workflow, labels: Mapping[str, str]) -> Workflow:
    """The workflow with the placeholders of its commands filled where a label has their name."""
    values = values_of(labels)
    if not values:
        return workflow
    steps = tuple(
        step.model_copy(update={"commands": tuple(fill(c, values) for c in step.commands)})
        if step.commands
        else step
        for step in workflow.steps
    )
    return workflow.model_copy(update={"steps": steps})
