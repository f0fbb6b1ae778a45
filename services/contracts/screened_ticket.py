"""A ticket as searches and models may see it: without text that addresses a language model."""

from dataclasses import dataclass

from services.contracts.ticket import TicketDraft
from services.knowledge.screening.screening import screen_message

_TEXTS = ("title", "description", "alert_name")


@dataclass(frozen=True)
class ScreenedTicket:
    """A ticket without suspicious text; the stored and displayed one stays whole."""

    ticket: TicketDraft
    suspicious: tuple[str, ...]
    """Sentences and labels that addressed a model, without duplicates."""


def screened(ticket: TicketDraft) -> ScreenedTicket:
    """Return the ticket for retrieval, planner and scorer; its texts may become empty."""
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
