"""Comments on tickets, made from what systems send when somebody comments."""

import hashlib

from services.integrations.sources.source import UnreadableTicketError
from services.tickets.intake.delivery import DeliveryItem, Ignored
from services.tickets.ticket.comments import Comment, is_ours


def make_comment(
    source: str, *, external_id: str, text: str, author: str = "", id_: str = "", at: str = ""
) -> DeliveryItem:
    """Build the comment; ignore one that is a note of the platform itself, or has no text.

    One without an id is told apart by its author, its text and the time `at` as it was sent.

    Raises:
        UnreadableTicketError: Nothing says which ticket it is about.
    """
    if not text:
        return Ignored(source, "a comment without a text")
    if is_ours(text):
        return Ignored(source, "a note that was written back from here")
    if not external_id:
        raise UnreadableTicketError(f"a comment of {source} needs the id of its ticket")
    digest = hashlib.sha256("\n".join((author, at, text)).encode()).hexdigest()[:32]
    return Comment(source, external_id, text, author, id_ or digest)
