"""What to ask next, if anything: the question whose answer is expected to change the most."""

from dataclasses import dataclass

from services.contracts.retrieval import RetrievedContext
from services.gateway.clarify.branches import branch_questions
from services.gateway.clarify.dialogue import Asked
from services.gateway.clarify.pages import page_question
from services.gateway.clarify.vague import vague_question
from services.gateway.ticket.question import Question
from services.workflow.model import Workflow


@dataclass(frozen=True)
class Clarify:
    """Finds the questions for the end of a walk."""

    most: int
    """Questions that a ticket is asked in all."""
    least_gain: float
    """Steps that an answer must be expected to spare."""

    def questions(
        self, workflow: Workflow | None, context: RetrievedContext, asked: Asked
    ) -> tuple[Question, ...]:
        """What may be asked about the ticket now, the best question first."""
        if asked.turns >= self.most:
            return ()
        return tuple(questions(workflow, context, asked, least_gain=self.least_gain))


def questions(
    workflow: Workflow | None, context: RetrievedContext, asked: Asked, *, least_gain: float
) -> list[Question]:
    """Questions worth asking, the best first; none when enough is known.

    Without a workflow the ticket can be told in more words: pages that nothing in it speaks for
    are not told apart, since whichever is chosen would be fitted to it by force.
    """
    if workflow is None:
        found = _about_ticket(asked)
    else:
        found = branch_questions(workflow, asked)
        found += _about_pages(workflow, context, asked)
    worth = [each for each in found if each.gain >= least_gain]
    return sorted(worth, key=lambda each: -each.gain)


def _about_ticket(asked: Asked) -> list[Question]:
    vague = None if asked.is_described else vague_question(asked.ticket_text)
    return [vague] if vague else []


def _about_pages(workflow: Workflow, context: RetrievedContext, asked: Asked) -> list[Question]:
    if asked.is_page_told:
        return []
    question = page_question(context, asked.ticket_text, steps=len(workflow.steps))
    return [question] if question else []
