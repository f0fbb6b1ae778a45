"""What the labels of a ticket say of what a command leaves open."""

import re

from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.workflow.commands import placeholder_name

_SAFE = re.compile(r"(?!-)[\w.:/@%+=-]{1,128}")
"""A label's value is data from outside: nothing that a shell reads as more than one word, or as an
option."""


def gap_values(ticket: TicketDraft) -> dict[str, str]:
    """What the labels of the ticket say, by the names of the placeholders that they fill.

    `<Pod-Name>` and `$POD_NAME` are the label `pod_name`. Values that are more than one plain word
    are left to the engineer.
    """
    labels = screened(ticket).ticket.labels
    return {placeholder_name(n): v for n, v in labels.items() if _SAFE.fullmatch(v)}
