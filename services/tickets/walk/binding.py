"""Placeholders in commands, filled with the labels of the ticket."""

from collections.abc import Iterable, Mapping

from services.contracts.scorer import ScoredCandidate
from services.contracts.screened_ticket import ScreenedTicket
from services.workflow.commands import fill, values_of
from services.workflow.model import Workflow


def substitute_labels(
    ranked: Iterable[ScoredCandidate], ticket: ScreenedTicket
) -> tuple[ScoredCandidate, ...]:
    """Fill the placeholders of the candidates' commands with the ticket's labels.

    Done last: what was judged is what the page says, whatever ticket it was judged for.
    """
    labels = ticket.for_model().labels
    return tuple(
        each.model_copy(
            update={
                "candidate": each.candidate.model_copy(
                    update={"workflow": fill_commands(each.candidate.workflow, labels)}
                )
            }
        )
        for each in ranked
    )


def fill_commands(workflow: Workflow, labels: Mapping[str, str]) -> Workflow:
    """Return the workflow with the placeholders filled that have the name of a label."""
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
