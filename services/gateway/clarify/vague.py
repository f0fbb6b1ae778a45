"""The question what exactly is seen, for a ticket that says too little to look anything up by."""

from services.gateway.ticket.question import About, Question
from services.language.names import error_codes, is_identifier
from services.language.words import tokenise

WHAT_IS_SEEN = "Which component is it, and which error message or symptom is seen?"
_FEW_WORDS = 10
"""A ticket with fewer words that tell something is no description of a fault."""
_GAIN = 1.0
"""Steps: all that is known of a workflow that is not found yet is that it has one."""


def vague_question(ticket_text: str) -> Question | None:
    """None where the ticket names something: then it is not its words that are lacking."""
    if len(set(tokenise(ticket_text))) >= _FEW_WORDS or _names_something(ticket_text):
        return None
    return Question(text=WHAT_IS_SEEN, choices=(), about=About.TICKET, gain=_GAIN)


def _names_something(text: str) -> bool:
    return bool(error_codes(text)) or any(map(is_identifier, text.split()))
