"""A ticket as searches and models may see it: without what speaks to a language model."""

from dataclasses import dataclass

from services.contracts.ticket import TicketDraft
from services.knowledge.screening.screening import screen_message

_TEXTS = ("title", "description", "alert_name")


@dataclass(frozen=True)
class ScreenedTicket:
    """What is left of a ticket, and what was left out; what is stored and shown stays whole."""

    ticket: TicketDraft
    suspicious: tuple[str, ...]
    """Sentences and labels that spoke to a model, none twice."""


def screened(ticket: TicketDraft) -> ScreenedTicket:
    """The ticket for retrieval, planner and scorer; a text may be empty then."""
    texts = {name: screen_message(getattr(ticket, name)) for name in _TEXTS}
    bad_labels = [
        name
        for name, value in ticket.labels.items()
        if screen_message(name).dropped or screen_message(value).dropped
    ]
    labels = {name: value for name, value in ticket.labels.items() if name not in bad_labels}
    dropped = [sentence for text in texts.values() for sentence in text.dropped]
    dropped += [f"{name}: {ticket.labels[name]}" for name in bad_labels]
    return ScreenedTicket(
        ticket=ticket.model_copy(
            update={**{name: text.text for name, text in texts.items()}, "labels": labels}
        ),
        suspicious=tuple(dict.fromkeys(dropped)),
    )
