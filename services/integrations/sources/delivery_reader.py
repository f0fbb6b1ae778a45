"""Deliveries from bytes to tickets: proof, JSON, the right source, then the limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from services.contracts.gateway import RejectedItem
from services.contracts.ticket import TicketDraft
from services.integrations.sources import sns
from services.integrations.sources.bodies import (
    CARRIERS,
    FAULTS,
    DeliveryTooLargeError,
    enforce_limits,
    parse_json,
    unwrap,
)
from services.integrations.sources.mapped import BUNDLED, MappingError, read_mappings
from services.integrations.sources.proof import WebhookRequest
from services.integrations.sources.settings import WebhookSettings
from services.integrations.sources.source import Body, Source, UnreadableTicketError
from services.integrations.sources.systems import LEAST_PARTICULAR, SOURCES
from services.kit.access.credentials import MissingCredentialError
from services.kit.errors import InvalidInputError, NotFoundError
from services.tickets.intake.delivery import Delivery, DeliveryItem, Ignored, Resolution
from services.tickets.settings import GatewaySettings
from services.tickets.ticket.comments import Comment

_SourceItem = tuple[Source, Any]
"""Item with the source that reads it."""


@dataclass(frozen=True)
class ProvenDelivery:
    """Delivery of which the source, if its address names one, is proved; see `authenticate`."""

    request: WebhookRequest
    source: Source | None


class UnknownSourceError(NotFoundError):
    """The address names a ticket system that nobody has taught the gateway."""


class UnrecognisedBodyError(InvalidInputError):
    """No known ticket system sends bodies of this shape."""


class DeliveryReader:
    """Reader of deliveries from all sources, mapped ones too. Safe to share between threads."""

    def __init__(self, limits: GatewaySettings, webhooks: WebhookSettings) -> None:
        """Load the sources; raise `MappingError` if the file of mappings cannot be used."""
        built_in = {source.name for source in (*SOURCES, LEAST_PARTICULAR)}
        own = read_mappings(webhooks.mappings, taken=built_in) if webhooks.mappings else ()
        replaced = {source.name for source in own}
        bundled = (source for source in _bundled() if source.name not in replaced)
        self._particular = (*SOURCES, *own, *bundled)
        unknown = webhooks.mapped_secrets.keys() - {source.name for source in self._particular}
        if unknown:
            raise MappingError(f"mapped secrets: no source is called {min(unknown)!a}")
        self.sources = (*self._particular, LEAST_PARTICULAR)
        self._limits = limits
        self._webhooks = webhooks
        self._sns = sns.SnsProof()

    def check_headers(self, headers: Mapping[str, str], source_name: str) -> None:
        """Check, before its body is read, that a delivery without a key may prove itself.

        Raises:
            MissingCredentialError: The source is unknown, or does not sign its deliveries.
            WrongSignatureError: The headers hold no proof, or a wrong one.
        """
        source = next((each for each in self.sources if each.name == source_name), None)
        credentials = self._webhooks.credentials(source_name)
        if source is None or not credentials:
            raise MissingCredentialError(
                "no key that is taken, and no signature: send a key with `operate`, or what the "
                "source signs its deliveries with"
            )
        source.verify.check_headers(WebhookRequest(b"", headers), credentials)

    def authenticate(self, received: WebhookRequest, source_name: str | None) -> ProvenDelivery:
        """Check the proof of the source that the address names, if it has a secret.

        Raises:
            UnknownSourceError: No source has that name.
            WrongSignatureError: It has a secret, and the delivery does not show it.
        """
        source = None if source_name is None else self._source_named(source_name)
        if source is not None:
            self._verify(source, received)
        return ProvenDelivery(received, source)

    def receive(self, proven: ProvenDelivery) -> Delivery:
        """Read the tickets in a delivery; sources that its shape alone names prove themselves now.

        Raises:
            WrongSignatureError: Such a source has a secret, and the delivery does not show it.
            SubscriptionRefusedError: SNS asks for a confirmation that the settings do not allow.
            FlowXpertError: As `read` does.
        """
        body = parse_json(proven.request.raw)
        items = self._items(body, proven.source)
        if proven.source is None:
            for source in {source.name: source for source, _ in items}.values():
                self._verify(source, proven.request)
        if self._webhooks.sns_confirm and isinstance(body, dict) and sns.is_confirmation(body):
            if body.get("TopicArn") not in self._webhooks.sns_topics:
                raise sns.SubscriptionRefusedError(
                    "a subscription is confirmed only of a topic in FLOWXPERT_WEBHOOK_SNS_TOPICS"
                )
            self._sns.confirm(body)
            return Delivery(ignored=(Ignored("cloudwatch", "the subscription is confirmed"),))
        return self._read_items(items)

    def read(self, raw: bytes, source_name: str | None = None) -> Delivery:
        """Read the tickets in a body; without a source's name it is recognised by its shape.

        A list is read as so many bodies. An item that cannot become a ticket is set aside with its
        reason, the others go on. When there is no other, its error is raised.

        Raises:
            NotJsonError: The body is no JSON.
            UnknownSourceError: No source has that name.
            UnrecognisedBodyError: No source has bodies of this shape.
            UnreadableTicketError: A field is missing or has the wrong type.
            DeliveryTooLargeError: More alerts, or a longer text, than the settings allow.
        """
        body = parse_json(raw)
        source = None if source_name is None else self._source_named(source_name)
        return self._read_items(self._items(body, source))

    def _verify(self, source: Source, received: WebhookRequest) -> None:
        credentials = self._webhooks.credentials(source.name)
        if credentials:
            source.verify(received, credentials)

    def _items(self, body: Any, source: Source | None) -> list[_SourceItem]:  # noqa: ANN401 - JSON
        bodies = body if isinstance(body, list) else [body]
        if not bodies or not all(isinstance(each, dict) for each in bodies):
            names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
            raise UnrecognisedBodyError(
                "expected a JSON object, or a list of them, got"
                f" {names.get(type(body), 'a number')}; {self._describe_sources()}"
            )
        items: list[_SourceItem] = []
        for each in bodies:
            items += self._items_of(each, source)
            if len(items) > self._limits.max_alerts:
                raise DeliveryTooLargeError(
                    f"a delivery may have {self._limits.max_alerts} alerts, this one has more"
                )
        return items

    def _items_of(self, body: Body, source: Source | None) -> list[_SourceItem]:
        if source is not None:
            inside = next(filter(source.matches, unwrap(body, (*CARRIERS, *FAULTS))), body)
        else:
            match = _first_match(self._particular, unwrap(body, CARRIERS))
            match = match or _first_match((LEAST_PARTICULAR,), unwrap(body, FAULTS))
            if match is None:
                raise UnrecognisedBodyError(
                    f"no known ticket system sends a body of this shape; {self._describe_sources()}"
                )
            source, inside = match
        items = source.items(inside)
        if not items:
            raise UnreadableTicketError(f"the body holds no item; expected {source.expects}")
        return [(source, item) for item in items]

    def _source_named(self, name: str) -> Source:
        for source in self.sources:
            if source.name == name:
                return source
        raise UnknownSourceError(f"no source is called {name[:40]!a}; {self._describe_sources()}")

    def _describe_sources(self) -> str:
        shapes = "; ".join(f"{s.name} {s.expects}" for s in (*SOURCES, LEAST_PARTICULAR))
        others = ", ".join(s.name for s in self.sources[len(SOURCES) : -1])
        return f"known sources: {shapes}; and {others}" if others else f"known sources: {shapes}"

    def _read_items(self, items: Sequence[_SourceItem]) -> Delivery:
        read: list[DeliveryItem] = []
        rejected: list[RejectedItem] = []
        first: set[tuple[str, str, str]] = set()
        for index, (source, item) in enumerate(items):
            try:
                is_one_of_many = len(items) > 1
                content = enforce_limits(
                    source.read(item), self._limits, is_one_of_many=is_one_of_many
                )
                read.append(content)
                if isinstance(content, TicketDraft) and source.is_first_report(item):
                    first.add((content.source, content.external_id, content.occurrence))
            except InvalidInputError as error:
                if not is_one_of_many:
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
            first_reports=frozenset(first),
        )


@cache
def _bundled() -> tuple[Source, ...]:
    return read_mappings(BUNDLED, taken=frozenset())


def _first_match(sources: Sequence[Source], bodies: Iterable[Body]) -> tuple[Source, Body] | None:
    return next(((s, body) for body in bodies for s in sources if s.matches(body)), None)
