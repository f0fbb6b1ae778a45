"""From the bytes of a request to its tickets: JSON, then the right source, then the limits."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from services.contracts.gateway import RejectedItem
from services.contracts.ticket import TicketDraft
from services.gateway.settings import GatewaySettings
from services.gateway.sources import SOURCES
from services.gateway.sources.delivery import Delivery, Resolution, Source, UnreadableTicketError
from services.kit.errors import InvalidInputError, NotFoundError, PayloadTooLargeError

MAX_ID_CHARACTERS = 400


class NotJsonError(InvalidInputError):
    """The body is empty, or no JSON in UTF-8."""

    status_code = 400


class UnknownSourceError(NotFoundError):
    """The address names a ticket system that nobody has taught the gateway."""


class UnrecognisedBodyError(InvalidInputError):
    """No known ticket system sends bodies of this shape."""


class DeliveryTooLargeError(PayloadTooLargeError):
    """A delivery, or a field of it, exceeds a limit of the settings."""


def read_delivery(raw: bytes, source_name: str | None, limits: GatewaySettings) -> Delivery:
    """The tickets in a body; without a source's name it is recognised by its shape.

    An item that cannot become a ticket is set aside with its reason, the others go on. When there
    is no other, its error is raised.

    Raises:
        NotJsonError: The body is no JSON.
        UnknownSourceError: No source has that name.
        UnrecognisedBodyError: No source has bodies of this shape.
        UnreadableTicketError: A field is missing or has the wrong type.
        DeliveryTooLargeError: More alerts, or a longer text, than the settings allow.
    """
    body = parse_json(raw)
    if not isinstance(body, dict):
        raise UnrecognisedBodyError(f"expected a JSON object, got {_kind(body)}; {_known()}")
    source = _named(source_name) if source_name is not None else _recognised(body)
    items = source.items(body)
    if len(items) > limits.max_alerts:
        raise DeliveryTooLargeError(
            f"a delivery may have {limits.max_alerts} alerts, this one has {len(items)}"
        )
    return _read_items(source, items, limits)


def parse_json(raw: bytes) -> Any:  # noqa: ANN401 - JSON
    """Strict JSON in UTF-8: no NaN, no infinity.

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


def _named(name: str) -> Source:
    for source in SOURCES:
        if source.name == name:
            return source
    raise UnknownSourceError(f"no source is called {name[:40]!a}; {_known()}")


def _recognised(body: Mapping[str, Any]) -> Source:
    for source in SOURCES:
        if source.matches(body):
            return source
    raise UnrecognisedBodyError(f"no known ticket system sends a body of this shape; {_known()}")


def _known() -> str:
    return "known sources: " + "; ".join(f"{s.name} {s.expects}" for s in SOURCES)


def _kind(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _read_items(source: Source, items: Sequence[Any], limits: GatewaySettings) -> Delivery:
    read: list[TicketDraft | Resolution] = []
    rejected: list[RejectedItem] = []
    for index, item in enumerate(items):
        try:
            read.append(_bounded(source.read(item), limits))
        except InvalidInputError as error:
            if len(items) == 1:
                raise
            rejected.append(RejectedItem(index=index, reason=str(error)))
    if not read:
        raise UnreadableTicketError(f"no item can be used; the first: {rejected[0].reason}")
    return Delivery(
        tickets=tuple(item for item in read if isinstance(item, TicketDraft)),
        resolved=tuple(item for item in read if isinstance(item, Resolution)),
        rejected=tuple(rejected),
    )


def _bounded(item: TicketDraft | Resolution, limits: GatewaySettings) -> TicketDraft | Resolution:
    """The item, when it keeps to the limits."""
    _check("external id", len(item.external_id), MAX_ID_CHARACTERS)
    if isinstance(item, TicketDraft):
        _check("title", len(item.title), limits.max_title_characters)
        _check("description", len(item.description), limits.max_description_characters)
        _check("url", len(item.url), limits.max_label_characters)
        _check("severity", len(item.severity), limits.max_title_characters)
        _check("alert name", len(item.alert_name), limits.max_title_characters)
        _check("set of labels", len(item.labels), limits.max_labels, "labels")
        longest = max((len(part) for pair in item.labels.items() for part in pair), default=0)
        _check("label", longest, limits.max_label_characters)
    return item


def _check(what: str, size: int, limit: int, unit: str = "characters") -> None:
    if size > limit:
        raise DeliveryTooLargeError(f"a ticket's {what} may have {limit} {unit}, this has {size}")
