"""What to ask next, if anything: the question whose answer is expected to change the most."""

from dataclasses import dataclass

from services.contracts.retrieval import RetrievedContext
from services.gateway.clarify.branches import branch_questions
from services.gateway.clarify.dialogue import Dialogue
from services.gateway.clarify.pages import page_question
from services.gateway.page_words.words import PageWords
from services.gateway.ticket.question import About, Question
from services.language.names import error_codes, is_identifier
from services.language.words import tokenise
from services.procedure.checklist.places import closed_boxes
from services.workflow.model import Workflow
from services.workflow.path import Done, path_of

WHAT_IS_SEEN = "Which component is it, and which error message or symptom is seen?"
_FEW_WORDS = 10
"""A ticket with fewer words that tell something is no description of a fault."""
_GAIN = 1.0
"""Steps: all that is known of a workflow that is not found yet is that it has one."""


@dataclass(frozen=True)
class Clarify:
    """Finds the questions for the end of a walk."""

    most: int
    """Questions that a ticket is asked in all."""
    least_gain: float
    """Steps that an answer must be expected to spare."""

    def questions(
        self,
        workflow: Workflow | None,
        context: RetrievedContext,
        asked: Dialogue,
        *,
        is_sure: bool = True,
        words: PageWords | None = None,
    ) -> tuple[Question, ...]:
        """What may be asked about the ticket now, the best question first.

        Where it is not sure that the page is the one, that is asked first, whatever its gain;
        `words` as of `page_question`.
        """
        if asked.turns >= self.most:
            return ()
        worth = questions(workflow, context, asked, least_gain=self.least_gain)
        if is_sure or workflow is None:
            return tuple(worth)
        pages = _about_pages(workflow, context, asked, is_sure=False, words=words)
        return (*pages, *(each for each in worth if each.about is not About.PAGES))


def questions(
    workflow: Workflow | None, context: RetrievedContext, asked: Dialogue, *, least_gain: float
) -> list[Question]:
    """Questions worth asking, the best first; none when enough is known.

    Without a workflow the ticket can be told in more words: pages that nothing in it speaks for
    are not told apart, since whichever is chosen would be fitted to it by force. No branch of a
    checklist is asked about: nobody has read its decisions.
    """
    if workflow is None:
        found = _about_ticket(asked)
    else:
        texts = {page.document_id: page.text for page in context.pages}
        found = [] if workflow.is_checklist else branch_questions(workflow, asked, texts)
        found += _about_pages(workflow, context, asked)
    worth = [each for each in found if each.gain >= least_gain]
    return sorted(worth, key=lambda each: -each.gain)


def _about_ticket(asked: Dialogue) -> list[Question]:
    vague = None if asked.is_described else vague_question(asked.ticket_text)
    return [vague] if vague else []


def _about_pages(
    workflow: Workflow,
    context: RetrievedContext,
    asked: Dialogue,
    *,
    is_sure: bool = True,
    words: PageWords | None = None,
) -> list[Question]:
    if asked.is_page_told:
        return []
    steps = _steps_to_do(workflow)
    question = page_question(context, asked.ticket_text, steps=steps, is_sure=is_sure, words=words)
    return [question] if question else []


def _steps_to_do(workflow: Workflow) -> int:
    """Steps that are done in vain on the wrong page; of a checklist its open boxes."""
    if workflow.is_checklist:
        return path_of(workflow, Done(closed=closed_boxes(workflow))).total
    return len(workflow.steps)


def vague_question(ticket_text: str) -> Question | None:
    """None where the ticket names something: then it is not its words that are lacking."""
    if len(set(tokenise(ticket_text))) >= _FEW_WORDS or _names_something(ticket_text):
        return None
    return Question(text=WHAT_IS_SEEN, choices=(), about=About.TICKET, gain=_GAIN)


def _names_something(text: str) -> bool:
    return bool(error_codes(text)) or any(map(is_identifier, text.split()))
