"""A language model looks for the ticket's terms, chooses among the questions and words one."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.gateway.clarify.dialogue import text_of
from services.gateway.ticket.question import About, Question
from services.knowledge.screening.screening import screen_message
from services.language.words import tokenise
from services.llm.chat_model import ChatModel, ChatRequest, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for

_PROMPT = load_prompt("services.gateway.clarify", "ask")
_MOST_TOKENS = 400
_MOST_TERMS = 8
_LONGEST = 300
"""Characters of a question that a person reads at a glance."""
_SHOWN = 6000
"""Characters of the ticket that are shown."""
_KEPT_WORDS = 0.5
"""Share of a question's words that another wording of it must keep."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    terms: list[str] = Field(default_factory=list, max_length=50)
    question: int
    wording: str = Field(max_length=2000)


class Worded(BaseModel):
    """What a model made of the questions."""

    model_config = ConfigDict(frozen=True)

    place: int
    """Of the chosen question."""
    wording: str
    terms: tuple[str, ...]
    """Domain terms, each as the ticket writes it."""


def worded(
    model: ChatModel, ticket: TicketDraft, questions: Sequence[Question], *, within_s: float
) -> Worded:
    """The model's choice; its wording only where it asks the same, else the question's own.

    Raises:
        ModelUnavailableError: Down, slow or overloaded.
        ModelRefusedError: The server will not serve this.
        ModelAnswerError: The answer cannot be read, or names no question.
    """
    text = text_of(screened(ticket).ticket)[:_SHOWN]
    request = ChatRequest(
        messages=_PROMPT.render({"ticket": text, "questions": _listed(questions)}),
        temperature=0.0,
        max_tokens=_MOST_TOKENS,
        prompt=_PROMPT.label,
        timeout_s=within_s,
    )
    answer, _ = ask_for(model, request, _Answer)
    if not 1 <= answer.question <= len(questions):
        raise ModelAnswerError(f"expected a question from 1 to {len(questions)}")
    place = answer.question - 1
    return Worded(
        place=place,
        wording=_checked(answer.wording, questions[place]),
        terms=tuple(_said(answer.terms, text)),
    )


def _listed(questions: Sequence[Question]) -> str:
    """Numbered, with their answers; what speaks to a model is left out."""
    lines = []
    for number, question in enumerate(questions, start=1):
        answers = " | ".join(choice.text for choice in question.choices)
        lines.append(f"{number}. {screen_message(f'{question.text} Answers: {answers}').text}")
    return "\n".join(lines)


def _checked(wording: str, question: Question) -> str:
    """One sentence that keeps what it asks for; of alternatives the frame is free."""
    said = " ".join(wording.split())
    if not said.endswith("?") or len(said) > _LONGEST or screen_message(said).dropped:
        return question.text
    is_framed = question.about is About.PAGES or len(question.decisions) > 1
    asks = set(tokenise(question.text))
    kept = is_framed or len(asks.intersection(tokenise(said))) >= _KEPT_WORDS * len(asks)
    return said if kept else question.text


def _said(terms: Sequence[str], text: str) -> list[str]:
    """Those that the ticket writes; a model's own words are no words to search by."""
    found = (" ".join(term.split()) for term in terms)
    known = [term for term in found if term and term.casefold() in text.casefold()]
    return list(dict.fromkeys(known))[:_MOST_TERMS]
