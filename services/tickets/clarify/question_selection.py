"""Selection of the next question: the one whose answer is expected to change the most, if any."""

from dataclasses import dataclass

from services.contracts.retrieval import RetrievedContext
from services.language.names import error_codes, is_identifier
from services.language.words import tokenise
from services.runbook.checklist.places import closed_boxes
from services.tickets.clarify.branches import branch_questions
from services.tickets.clarify.dialogue import Dialogue
from services.tickets.clarify.pages import page_question
from services.tickets.page_feedback import PageFeedback
from services.tickets.ticket.question import ClarifyingQuestion, QuestionTopic
from services.workflow.model import Workflow
from services.workflow.path import MarkedSteps, progress_of

WHAT_IS_SEEN = "Which component is it, and which error message or symptom is seen?"
_FEW_WORDS = 10
"""Words that carry meaning; a ticket with fewer does not describe a fault."""
_GAIN = 1.0
"""Steps saved: of a workflow that is not known yet no more can be said than that it has one."""


@dataclass(frozen=True)
class QuestionSelector:
    """Selector of the questions at the end of a walk."""

    most: int
    """Most questions that a ticket is asked."""
    least_gain: float
    """Steps that an answer must be expected to save."""

    def questions(
        self,
        workflow: Workflow | None,
        context: RetrievedContext,
        dialogue: Dialogue,
        *,
        is_sure: bool = True,
        words: PageFeedback | None = None,
    ) -> tuple[ClarifyingQuestion, ...]:
        """Return the questions that may be asked about the ticket now, the best first.

        If it is uncertain which page applies, that is asked first, whatever its gain; `words` as in
        `page_question`.
        """
        if dialogue.turns >= self.most:
            return ()
        worth = rank_questions(workflow, context, dialogue, least_gain=self.least_gain)
        if is_sure or workflow is None:
            return tuple(worth)
        pages = _about_pages(workflow, context, dialogue, is_sure=False, words=words)
        return (*pages, *(each for each in worth if each.about is not QuestionTopic.PAGES))


def rank_questions(
    workflow: Workflow | None, context: RetrievedContext, dialogue: Dialogue, *, least_gain: float
) -> list[ClarifyingQuestion]:
    """Return the questions worth asking, the best first; none if enough is known.

    Without a workflow only the ticket's description is asked for. No pages are offered then:
    nothing in the ticket speaks for any, and whichever is chosen would be fitted to it by force. No
    branch of a checklist is asked about: nobody has read its decisions.
    """
    if workflow is None:
        vague = None if dialogue.has_ticket_question else vague_question(dialogue.ticket_text)
        candidates = [vague] if vague else []
    else:
        texts = {page.document_id: page.text for page in context.pages}
        candidates = [] if workflow.is_checklist else branch_questions(workflow, dialogue, texts)
        candidates += _about_pages(workflow, context, dialogue)
    worth = [each for each in candidates if each.gain >= least_gain]
    return sorted(worth, key=lambda each: -each.gain)


def _about_pages(
    workflow: Workflow,
    context: RetrievedContext,
    dialogue: Dialogue,
    *,
    is_sure: bool = True,
    words: PageFeedback | None = None,
) -> list[ClarifyingQuestion]:
    if dialogue.has_page_question:
        return []
    # The steps that are wasted on the wrong page; on a checklist, its open boxes.
    steps = len(workflow.steps)
    if workflow.is_checklist:
        steps = progress_of(workflow, MarkedSteps(closed=closed_boxes(workflow))).total
    question = page_question(
        context, dialogue.ticket_text, steps=steps, is_sure=is_sure, words=words
    )
    return [question] if question else []


def vague_question(ticket_text: str) -> ClarifyingQuestion | None:
    """Return the question what is seen; None if the ticket names something already."""
    if len(set(tokenise(ticket_text))) >= _FEW_WORDS or (
        bool(error_codes(ticket_text)) or any(map(is_identifier, ticket_text.split()))
    ):
        return None
    return ClarifyingQuestion(text=WHAT_IS_SEEN, choices=(), about=QuestionTopic.TICKET, gain=_GAIN)
