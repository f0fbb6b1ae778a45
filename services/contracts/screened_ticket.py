"""A ticket as searches and models may see it: without text that addresses a language model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from services.contracts.ticket import TicketDraft
from services.knowledge.screening.screening import Screened, screen_message

_TEXTS = ("title", "description", "alert_name")


@dataclass(frozen=True)
class ScreenedTicket:
    """A ticket with the marks of what addresses a language model, made where it comes in.

    The two views are the only ways out: searches, commands and models use one, the ticket that
    people see stays whole. A ticket is screened at the first use of a view for models.
    """

    _ticket: TicketDraft

    def for_person(self) -> TicketDraft:
        """Return the whole ticket, as it is stored and shown."""
        return self._ticket

    def for_model(self) -> TicketDraft:
        """Return the ticket for retrieval, planner and models; its texts may become empty."""
        return self._model_view

    def with_lines(self, learned: Sequence[str]) -> "ScreenedTicket":
        """Return the ticket with these lines after its description, screened with it."""
        if not any(learned):
            return self
        description = "\n".join(filter(None, (self._ticket.description, *learned)))
        return replace(self, _ticket=self._ticket.model_copy(update={"description": description}))

    @property
    def suspicious(self) -> tuple[str, ...]:
        """Removed sentences and labels, none twice."""
        texts = (self._screened[getattr(self._ticket, name)] for name in _TEXTS)
        dropped = [sentence for text in texts for sentence in text.dropped]
        dropped += [f"{name}: {self._ticket.labels[name]}" for name in self._bad_labels]
        return tuple(dict.fromkeys(dropped))

    @cached_property
    def _screened(self) -> dict[str, Screened]:
        """Texts and labels, names and values of these, by what they were before."""
        texts = (getattr(self._ticket, name) for name in _TEXTS)
        labels = self._ticket.labels
        return {text: screen_message(text) for text in (*texts, *labels, *labels.values())}

    @cached_property
    def _bad_labels(self) -> list[str]:
        return [
            name
            for name, value in self._ticket.labels.items()
            if self._screened[name].dropped or self._screened[value].dropped
        ]

    @cached_property
    def _model_view(self) -> TicketDraft:
        kept = self._ticket.labels.items()
        labels = {name: value for name, value in kept if name not in self._bad_labels}
        texts = {name: self._screened[getattr(self._ticket, name)].text for name in _TEXTS}
        return self._ticket.model_copy(update={**texts, "labels": labels})
