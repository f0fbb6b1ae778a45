"""From the bytes of a delivery to its tickets: proof, JSON, the right source, then the limits."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from services.contracts.gateway import RejectedItem
from services.contracts.ticket import TicketDraft
from services.gateway.settings import GatewaySettings
from services.gateway.sources import sns
from services.gateway.sources.delivery import (
    Body,
    Delivery,
    Ignored,
    Reading,
    Resolution,
    Source,
    UnreadableTicketError,
)
from services.gateway.sources.envelope import CARRIERS, FAULTS, inner
from services.gateway.sources.limits import DeliveryTooLargeError, bounded
from services.gateway.sources.mapped import BUNDLED, MappingError, read_mappings
from services.gateway.sources.parsing import parse_json
from services.gateway.sources.proof import Received
from services.gateway.sources.settings import WebhookSettings
from services.gateway.sources.systems import LEAST_PARTICULAR, SOURCES
from services.gateway.ticket.comments import Comment
from services.kit.errors import InvalidInputError, NotFoundError

_Found = tuple[Source, Any]
"""An item and the source that reads it."""


class UnknownSourceError(NotFoundError):
    """The address names a ticket system that nobody has taught the gateway."""


class UnrecognisedBodyError(InvalidInputError):
    """No known ticket system sends bodies of this shape."""


class Reader:
    """Knows the sources, those of the mappings included; safe to share between threads."""

    def __init__(self, limits: GatewaySettings, webhooks: WebhookSettings) -> None:
        """Raises `MappingError` when the file of mappings cannot be used."""
        mapped = _mapped(webhooks.mappings)
        self._particular = (*SOURCES, *mapped)
        unknown = webhooks.mapped_secrets.keys() - {source.name for source in self._particular}
        if unknown:
            raise MappingError(f"mapped secrets: no source is called {min(unknown)!a}")
        self.sources = (*self._particular, LEAST_PARTICULAR)
        self._limits = limits
        self._webhooks = webhooks
        self._sns = sns.SnsProof()

    def verified(
        self, source_name: str | None, headers: Mapping[str, str], raw: bytes
    ) -> str | None:
        """The name of the source that signed this; only at its own address.

        Raises:
            WrongSignatureError: It has a secret, and this does not show it.
        """
        known = {source.name: source for source in self.sources}
        source = known.get(source_name or "")
        if source is None or not self._webhooks.credentials(source.name):
            return None
        self._prove(source, Received(raw, headers))
        return source.name

    def receive(self, received: Received, source_name: str | None) -> Delivery:
        """The tickets in a delivery whose source has proved itself, where it can.

        Raises:
            WrongSignatureError: The source has a secret, and the delivery does not show it.
            SubscriptionRefusedError: SNS asks for a confirmation that the settings do not allow.
            FlowXpertError: As `read` does.
        """
        if source_name is not None:
            self._prove(self._named(source_name), received)
        body = parse_json(received.raw)
        found = self._items(body, source_name)
        for source in {source.name: source for source, _ in found}.values():
            if source_name is None:
                self._prove(source, received)
        if self._webhooks.sns_confirm and isinstance(body, dict) and sns.is_confirmation(body):
            return self._confirm(body)
        return self._read_items(found)

    def read(self, raw: bytes, source_name: str | None = None) -> Delivery:
        """The tickets in a body; without a source's name it is recognised by its shape.

        A list is read as so many bodies. An item that cannot become a ticket is set aside with its
        reason, the others go on. When there is no other, its error is raised.

        Raises:
            NotJsonError: The body is no JSON.
            UnknownSourceError: No source has that name.
            UnrecognisedBodyError: No source has bodies of this shape.
            UnreadableTicketError: A field is missing or has the wrong type.
            DeliveryTooLargeError: More alerts, or a longer text, than the settings allow.
        """
        return self._read_items(self._items(parse_json(raw), source_name))

    def _prove(self, source: Source, received: Received) -> None:
        credentials = self._webhooks.credentials(source.name)
        if credentials:
            source.verify(received, credentials)

    def _confirm(self, body: Mapping[str, Any]) -> Delivery:
        if body.get("TopicArn") not in self._webhooks.sns_topics:
            raise sns.SubscriptionRefusedError(
                "a subscription is confirmed only of a topic in FLOWXPERT_WEBHOOK_SNS_TOPICS"
            )
        self._sns.confirm(body)
        return Delivery(ignored=(Ignored("cloudwatch", "the subscription is confirmed"),))

    def _items(self, body: Any, source_name: str | None) -> list[_Found]:  # noqa: ANN401 - JSON
        bodies = body if isinstance(body, list) else [body]
        if not bodies or not all(isinstance(each, dict) for each in bodies):
            raise UnrecognisedBodyError(
                f"expected a JSON object, or a list of them, got {_kind(body)}; {self._known()}"
            )
        found: list[_Found] = []
        for each in bodies:
            found += self._items_of(each, source_name)
            if len(found) > self._limits.max_alerts:
                raise DeliveryTooLargeError(
                    f"a delivery may have {self._limits.max_alerts} alerts, this one has more"
                )
        return found

    def _items_of(self, body: Body, source_name: str | None) -> list[_Found]:
        if source_name is None:
            source, inside = self._recognised(body)
        else:
            source = self._named(source_name)
            inside = next(filter(source.matches, inner(body, (*CARRIERS, *FAULTS))), body)
        items = source.items(inside)
        if not items:
            raise UnreadableTicketError(f"the body holds no item; expected {source.expects}")
        return [(source, item) for item in items]

    def _named(self, name: str) -> Source:
        for source in self.sources:
            if source.name == name:
                return source
        raise UnknownSourceError(f"no source is called {name[:40]!a}; {self._known()}")

    def _recognised(self, body: Body) -> tuple[Source, Body]:
        found = _first_match(self._particular, inner(body, CARRIERS))
        found = found or _first_match((LEAST_PARTICULAR,), inner(body, FAULTS))
        if found is None:
            raise UnrecognisedBodyError(
                f"no known ticket system sends a body of this shape; {self._known()}"
            )
        return found

    def _known(self) -> str:
        shapes = "; ".join(f"{s.name} {s.expects}" for s in (*SOURCES, LEAST_PARTICULAR))
        others = ", ".join(s.name for s in self.sources[len(SOURCES) : -1])
        return f"known sources: {shapes}; and {others}" if others else f"known sources: {shapes}"

    def _read_items(self, items: Sequence[_Found]) -> Delivery:
        read: list[Reading] = []
        rejected: list[RejectedItem] = []
        for index, (source, item) in enumerate(items):
            try:
                read.append(bounded(source.read(item), self._limits))
            except InvalidInputError as error:
                if len(items) == 1:
                    raise
                rejected.append(RejectedItem(index=index, reason=str(error)))
        if not read:
            raise UnreadableTicketError(f"no item can be used; the first: {rejected[0].reason}")
        return Delivery(
            tickets=tuple(item for item in read if isinstance(item, TicketDraft)),
            resolved=tuple(item for item in read if isinstance(item, Resolution)),
            comments=tuple(item for item in read if isinstance(item, Comment)),
            ignored=tuple(item for item in read if isinstance(item, Ignored)),
            rejected=tuple(rejected),
        )


def _mapped(path: Path | None) -> tuple[Source, ...]:
    """The sources of the mapping file, then those that come along and that it does not replace."""
    built_in = {source.name for source in (*SOURCES, LEAST_PARTICULAR)}
    own = read_mappings(path, taken=built_in) if path else ()
    names = {source.name for source in own}
    return (*own, *(source for source in _bundled() if source.name not in names))


@cache
def _bundled() -> tuple[Source, ...]:
    return read_mappings(BUNDLED, taken=frozenset())


def _first_match(sources: Iterable[Source], bodies: Iterable[Body]) -> tuple[Source, Body] | None:
    known = tuple(sources)
    return next(((s, body) for body in bodies for s in known if s.matches(body)), None)


def _kind(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
