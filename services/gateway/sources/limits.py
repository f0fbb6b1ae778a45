"""How much a ticket may hold: a longer one is refused or, where the settings say so, cut."""

from dataclasses import replace

from services.contracts.clarification import MAX_ANSWER_CHARACTERS
from services.contracts.ticket import TicketDraft
from services.gateway.settings import GatewaySettings
from services.gateway.sources.delivery import Ignored, Reading
from services.gateway.ticket.comments import Comment
from services.kit.errors import PayloadTooLargeError

MAX_EXTERNAL_ID_CHARACTERS = 400
MAX_OCCURRENCE_CHARACTERS = 100
MAX_TEAMS = 50
MAX_SEVERITY_CHARACTERS = 60
MAX_SERVICE_CHARACTERS = 200
"""What a list is filtered by stands in an index, whose entries are short: longer ones are cut."""
MAX_COMMENT_ID_CHARACTERS = 100
MAX_AUTHOR_CHARACTERS = 200

_CUT = "… (cut)"


class DeliveryTooLargeError(PayloadTooLargeError):
    """A delivery, or a field of it, exceeds a limit of the settings."""


def bounded(item: Reading, limits: GatewaySettings) -> Reading:
    """The item, when it keeps to the limits.

    Raises:
        DeliveryTooLargeError: It does not, or what tells it from others does not.
    """
    if isinstance(item, Ignored):
        return item
    _check("external id", len(item.external_id), MAX_EXTERNAL_ID_CHARACTERS)
    if isinstance(item, Comment):
        return _cut_comment(item)
    _check("occurrence", len(item.occurrence), MAX_OCCURRENCE_CHARACTERS)
    if not isinstance(item, TicketDraft):
        return item
    if limits.cut_long_texts:
        item = _cut(item, limits)
    _check("title", len(item.title), limits.max_title_characters)
    _check("description", len(item.description), limits.max_description_characters)
    _check("url", len(item.url), limits.max_label_characters)
    _check("severity", len(item.severity), limits.max_title_characters)
    _check("alert name", len(item.alert_name), limits.max_title_characters)
    _check("service", len(item.service), limits.max_title_characters)
    _check("list of teams", len(item.teams), MAX_TEAMS, "teams")
    _check("team", max(map(len, item.teams), default=0), limits.max_title_characters)
    _check("set of labels", len(item.labels), limits.max_labels, "labels")
    longest = max((len(part) for pair in item.labels.items() for part in pair), default=0)
    _check("label", longest, limits.max_label_characters)
    severity = _shortened(item.severity, MAX_SEVERITY_CHARACTERS)
    service = _shortened(item.service, MAX_SERVICE_CHARACTERS)
    return item.model_copy(update={"severity": severity, "service": service})


def _cut_comment(said: Comment) -> Comment:
    """A comment is kept as far as it can be an answer; it never refuses its delivery."""
    _check("comment's id", len(said.id), MAX_COMMENT_ID_CHARACTERS)
    return replace(
        said,
        text=_shortened(said.text, MAX_ANSWER_CHARACTERS),
        author=_shortened(said.author, MAX_AUTHOR_CHARACTERS),
    )


def _cut(item: TicketDraft, limits: GatewaySettings) -> TicketDraft:
    """The item with the ends of its texts cut off; what names things is left for the check."""
    pairs = list(item.labels.items())[: limits.max_labels]
    return item.model_copy(
        update={
            "title": _shortened(item.title, limits.max_title_characters),
            "description": _shortened(item.description, limits.max_description_characters),
            "labels": {n: _shortened(value, limits.max_label_characters) for n, value in pairs},
        }
    )


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else (text[: max(0, limit - len(_CUT))] + _CUT)[:limit]


def _check(what: str, size: int, limit: int, unit: str = "characters") -> None:
    if size > limit:
        raise DeliveryTooLargeError(f"a ticket's {what} may have {limit} {unit}, this has {size}")
