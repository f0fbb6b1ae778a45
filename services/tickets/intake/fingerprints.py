"""Fingerprints of alerts that repeat one fault, and families of alerts alike."""

import hashlib
import re
from collections.abc import Iterable

from services.contracts.ticket import TicketDraft

_NUMBERS = re.compile(r"\d+")
_NO_WORD = re.compile(r"[\W_]+")


def fingerprint(draft: TicketDraft) -> str:
    """Return a hash that is equal for alerts of one fault; empty for what is never a repeat.

    A sender with an id for a fault and an occurrence for each time that it breaks is believed. Of
    other machines, alerts are the same when name, title, service and labels are; of senders without
    ids, when every text is. Somebody waits for the answer to a ticket that has an id of its own and
    no alert behind it, so it is never another one's repeat.
    """
    labels = (f"{name}={value}" for name, value in sorted(draft.labels.items()))
    if draft.occurrence:
        return _hash("id", draft.source, draft.external_id)
    if draft.alert_name:
        named = (draft.source, draft.alert_name, draft.title, draft.service)
        return _hash("alert", *named, *labels)
    if not draft.external_id:
        texts = (draft.source, draft.title, draft.description, draft.service)
        return _hash("text", *texts, *labels)
    return ""


def family(draft: TicketDraft) -> str:
    """Return a hash that is equal for alerts that differ in numbers only, whoever sent them."""
    words = _NUMBERS.sub("#", draft.alert_name or draft.title).casefold()
    return _hash("family", *_NO_WORD.split(words))


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(_clean(parts)).encode(), digest_size=16).hexdigest()


def _clean(parts: Iterable[str]) -> Iterable[str]:
    return (part.replace("\0", " ") for part in parts)
