"""Bodies of deliveries: strict JSON, envelopes around a vendor's body, and limits of a ticket.

Relays and event buses pass a vendor's body on in an envelope of theirs: CloudEvents has it under
`data`, others under `payload`, `body`, `alert`, …, as an object or as JSON in a text.
https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from services.contracts.clarification import MAX_ANSWER_CHARACTERS
from services.contracts.ticket import TicketDraft
from services.integrations.sources.source import LEFT_OUT, Body
from services.kit.errors import InvalidInputError, PayloadTooLargeError
from services.tickets.intake.delivery import DeliveryItem, Ignored, Resolution
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.comments import Comment


class NotJsonError(InvalidInputError):
    """The body is empty, or no JSON in UTF-8."""

    status_code = 400


def parse_json(raw: bytes) -> Any:  # noqa: ANN401 - JSON
    """Parse strict JSON in UTF-8: no NaN, no infinity.

    Raises:
        NotJsonError: It is something else; the message says where.
    """
    if not raw.strip():
        raise NotJsonError("the body is empty; expected a JSON object")
    try:
        return json.loads(
            raw.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise NotJsonError(f"the body is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(
            f"the body is not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except RecursionError:
        raise NotJsonError("the body is nested too deeply") from None
    except ValueError as error:  # numbers of thousands of digits, NaN, infinity
        raise NotJsonError(f"the body is not JSON: {str(error)[:100]}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


CARRIERS = ("data", "payload", "body", "event", "alert", "alert_payload", "raw")
"""Keys under which an envelope may keep the body of a known vendor."""
FAULTS = ("alert", "incident", "issue", "ticket", "problem")
"""Keys under which it may keep a ticket of an unknown source: the name alone says what it is."""
DEPTH = 2


def unwrap(body: Body, names: tuple[str, ...], depth: int = DEPTH) -> Iterator[Body]:
    """Yield the body, then those that it may envelop, the outer before the inner."""
    yield body
    if depth:
        for name in names:
            content = json_object(body.get(name))
            if content is not None:
                yield from unwrap(content, names, depth - 1)


def json_object(value: Any) -> Body | None:  # noqa: ANN401 - JSON
    """Return an object, also one written as JSON in a text; None for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, Mapping) else None


MAX_EXTERNAL_ID_CHARACTERS = 400
MAX_OCCURRENCE_CHARACTERS = 100
MAX_TEAMS = 50
MAX_SEVERITY_CHARACTERS = 60
MAX_SERVICE_CHARACTERS = 200
"""Characters kept of a service: lists are filtered by it, with an index of short entries."""
MAX_COMMENT_ID_CHARACTERS = 100
MAX_AUTHOR_CHARACTERS = 200

_CUT = "… (cut)"


class DeliveryTooLargeError(PayloadTooLargeError):
    """A delivery, or a field of it, exceeds a limit of the settings."""


def enforce_limits(
    item: DeliveryItem, limits: GatewaySettings, *, is_one_of_many: bool = False
) -> DeliveryItem:
    """Return the item if it keeps to the limits, its long texts cut if the settings say so.

    One of many is made to keep to them, since its sender would not hear of it.

    Raises:
        DeliveryTooLargeError: It does not, or what tells it from others does not.
    """
    if isinstance(item, Ignored):
        return item
    if is_one_of_many and isinstance(item, TicketDraft | Resolution):
        item = _make_fit(item, limits)
    _check("external id", len(item.external_id), MAX_EXTERNAL_ID_CHARACTERS)
    if isinstance(item, Comment):
        _check("comment's id", len(item.id), MAX_COMMENT_ID_CHARACTERS)
        return replace(
            item,
            text=_shorten(item.text, MAX_ANSWER_CHARACTERS),
            author=_shorten(item.author, MAX_AUTHOR_CHARACTERS),
        )
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
    severity = _shorten(item.severity, MAX_SEVERITY_CHARACTERS)
    service = _shorten(item.service, MAX_SERVICE_CHARACTERS)
    return item.model_copy(update={"severity": severity, "service": service})


def _cut(item: TicketDraft, limits: GatewaySettings) -> TicketDraft:
    pairs = list(item.labels.items())[: limits.max_labels]
    return item.model_copy(
        update={
            "title": _shorten(item.title, limits.max_title_characters),
            "description": _shorten(item.description, limits.max_description_characters),
            "labels": {n: _shorten(value, limits.max_label_characters) for n, value in pairs},
        }
    )


def _make_fit(item: TicketDraft | Resolution, limits: GatewaySettings) -> TicketDraft | Resolution:
    """Cut what is too long; of what tells it from others, a hash takes the place of the rest."""
    ids = {
        "external_id": _digested(item.external_id, MAX_EXTERNAL_ID_CHARACTERS),
        "occurrence": _digested(item.occurrence, MAX_OCCURRENCE_CHARACTERS),
    }
    if isinstance(item, Resolution):
        return replace(item, **ids)
    short = limits.max_title_characters
    most = limits.max_label_characters
    is_linked = len(item.url) <= most
    labels = item.labels if is_linked else {LEFT_OUT: "url"} | item.labels
    return _cut(
        item.model_copy(
            update={
                **ids,
                "url": item.url if is_linked else "",
                "severity": _shorten(item.severity, short),
                "alert_name": _shorten(item.alert_name, short),
                "service": _shorten(item.service, short),
                "teams": tuple(_shorten(team, short) for team in item.teams[:MAX_TEAMS]),
                "labels": {name: text for name, text in labels.items() if len(name) <= most},
            }
        ),
        limits,
    )


def _digested(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return f"{text[: limit - len(digest) - 1]}#{digest}"


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else (text[: max(0, limit - len(_CUT))] + _CUT)[:limit]


def _check(what: str, size: int, limit: int, unit: str = "characters") -> None:
    if size > limit:
        raise DeliveryTooLargeError(f"a ticket's {what} may have {limit} {unit}, this has {size}")
