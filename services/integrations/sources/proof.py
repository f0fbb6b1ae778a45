"""Proofs that a source sent a delivery: a token, or a signature over the body."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from services.kit.errors import UnauthorizedError

MAX_AGE_S = 300
"""Most seconds by which a signed time may be off, in either direction: the tolerance of Grafana's
and of most vendors' own examples.
"""


class WrongSignatureError(UnauthorizedError):
    """The delivery is not signed with the source's secret, or carries no such token."""


@dataclass(frozen=True)
class WebhookRequest:
    """Request with a delivery, as it came: header names are in lower case."""

    raw: bytes
    headers: Mapping[str, str]

    def header(self, name: str) -> str:
        """Return the header's value; empty without one."""
        return self.headers.get(name.lower(), "")


@dataclass(frozen=True)
class Credentials:
    """Credentials of a source in the settings, by which its deliveries are proved."""

    secret: str = ""
    topics: frozenset[str] = frozenset()
    """ARNs of the SNS topics that may speak for the source."""

    def __bool__(self) -> bool:
        return bool(self.secret or self.topics)


class Proof(Protocol):
    """Check of a delivery against the source's credentials."""

    def __call__(self, received: WebhookRequest, credentials: Credentials) -> None:
        """Raise `WrongSignatureError` unless the delivery is its source's."""

    def check_headers(self, received: WebhookRequest, credentials: Credentials) -> None:
        """Raise the same if the headers alone show that it is not; the body is not there yet."""


TOKEN_HEADER = "X-FlowXpert-Token"  # noqa: S105 - a header's name


class TokenProof:
    """Proof by a shared token: of `Bearer`, as password of `Basic`, or in `X-FlowXpert-Token`."""

    def __call__(self, received: WebhookRequest, credentials: Credentials) -> None:
        """See `Proof`."""
        offered = [received.header(TOKEN_HEADER), _authorization(received.header("authorization"))]
        if not any(is_same_secret(token, credentials.secret) for token in offered if token):
            raise WrongSignatureError(
                f"send the source's secret as `Authorization: Bearer …`, as the password of "
                f"`Basic`, or as `{TOKEN_HEADER}: …`"
            )

    check_headers = __call__


by_token = TokenProof()


@dataclass(frozen=True)
class SignatureProof:
    """Proof by a signature over the body, in a header; or by the token where that is taken."""

    header: str
    check: Callable[[WebhookRequest, Credentials], None]
    takes_token: bool = False

    def __call__(self, received: WebhookRequest, credentials: Credentials) -> None:
        """See `Proof`."""
        is_signed = received.header(self.header) or not self.takes_token
        (self.check if is_signed else by_token)(received, credentials)

    def check_headers(self, received: WebhookRequest, credentials: Credentials) -> None:
        """See `Proof`; a signature cannot be judged before its body."""
        if received.header(self.header):
            return
        if not self.takes_token:
            raise WrongSignatureError(f"sign the body with the source's secret in `{self.header}`")
        by_token(received, credentials)


def by_signature(header: str, *prefixes: str, takes_token: bool = False) -> SignatureProof:
    """Build a check of the body's HMAC-SHA256 in hexadecimal, after one of the prefixes.

    One right signature of several is enough.
    """

    def check(received: WebhookRequest, credentials: Credentials) -> None:
        parts = [part.strip() for part in received.header(header).split(",")]
        marks = prefixes or ("",)
        offered = [part[len(m) :] for part in parts for m in marks if part.startswith(m)]
        check_signature(header, offered, credentials.secret, received.raw)

    return SignatureProof(header, check, takes_token)


def check_signature(header: str, offered: Iterable[str], secret: str, signed: bytes) -> None:
    """Check that one of the signatures is that of these bytes.

    Raises:
        WrongSignatureError: None is.
    """
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not any(is_same_secret(signature.lower(), expected) for signature in offered):
        raise WrongSignatureError(f"`{header}` does not sign this body with the source's secret")


def check_time(header: str, seconds: str) -> None:
    """Check that a signed time is of now.

    Raises:
        WrongSignatureError: It is no time, or too far away.
    """
    if not seconds.isdecimal() or abs(int(seconds[:20]) - time.time()) > MAX_AGE_S:
        raise WrongSignatureError(f"`{header}` is no time within {MAX_AGE_S} s of now")


def is_same_secret(offered: str, expected: str) -> bool:
    """Compare two secrets in a time that does not depend on where they differ."""
    return hmac.compare_digest(offered.encode("utf-8", "replace"), expected.encode())


def _authorization(value: str) -> str:
    scheme, _, credentials = value.partition(" ")
    if scheme.lower() != "basic":
        return credentials.strip() if scheme.lower() == "bearer" else ""
    try:
        decoded = base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded.partition(":")[2]
