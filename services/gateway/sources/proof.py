"""How a delivery proves that its source sent it: a token, or a signature over the body."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from services.kit.errors import UnauthorizedError

MAX_AGE_S = 300
"""A signed time may be off by so much, in either direction: the tolerance of Grafana's and of most
vendors' own examples."""


class WrongSignatureError(UnauthorizedError):
    """The delivery is not signed with the source's secret, or carries no such token."""


@dataclass(frozen=True)
class Received:
    """A delivery as it came: header names are in lower case."""

    raw: bytes
    headers: Mapping[str, str]

    def header(self, name: str) -> str:
        """The header's value; empty without one."""
        return self.headers.get(name.lower(), "")


@dataclass(frozen=True)
class Credentials:
    """What the settings hold to prove a source's deliveries with."""

    secret: str = ""
    topics: frozenset[str] = frozenset()
    """ARNs of the SNS topics that may speak for the source."""

    def __bool__(self) -> bool:
        return bool(self.secret or self.topics)


Verify = Callable[[Received, Credentials], None]
"""Checks a delivery against the source's credentials; raises `WrongSignatureError`."""

TOKEN_HEADER = "X-FlowXpert-Token"  # noqa: S105 - a header's name


def by_token(received: Received, credentials: Credentials) -> None:
    """A shared token: `Authorization: Bearer`, the password of `Basic`, or `X-FlowXpert-Token`."""
    offered = [received.header(TOKEN_HEADER), _authorization(received.header("authorization"))]
    if not any(same(token, credentials.secret) for token in offered if token):
        raise WrongSignatureError(
            f"send the source's secret as `Authorization: Bearer …`, as the password of `Basic`, "
            f"or as `{TOKEN_HEADER}: …`"
        )


def by_signature(header: str, *prefixes: str) -> Verify:
    """HMAC-SHA256 of the body in hexadecimal, after one of the prefixes; any of several will do."""

    def verify(received: Received, credentials: Credentials) -> None:
        offered = _signatures(received.header(header), prefixes or ("",))
        check_signature(header, offered, credentials.secret, received.raw)

    return verify


def by_either(first_header: str, signed: Verify) -> Verify:
    """The signature where its header is sent, else the token."""

    def verify(received: Received, credentials: Credentials) -> None:
        (signed if received.header(first_header) else by_token)(received, credentials)

    return verify


def check_signature(header: str, offered: Iterable[str], secret: str, signed: bytes) -> None:
    """One of the signatures must be that of these bytes.

    Raises:
        WrongSignatureError: None is.
    """
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not any(same(signature.lower(), expected) for signature in offered):
        raise WrongSignatureError(f"`{header}` does not sign this body with the source's secret")


def check_time(header: str, seconds: str) -> None:
    """A signed time must be of now.

    Raises:
        WrongSignatureError: It is no time, or too far away.
    """
    if not seconds.isdecimal() or abs(int(seconds[:20]) - time.time()) > MAX_AGE_S:
        raise WrongSignatureError(f"`{header}` is no time within {MAX_AGE_S} s of now")


def same(offered: str, expected: str) -> bool:
    """Equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(offered.encode("utf-8", "replace"), expected.encode())


def _signatures(value: str, prefixes: tuple[str, ...]) -> list[str]:
    parts = [part.strip() for part in value.split(",")]
    return [part[len(mark) :] for part in parts for mark in prefixes if part.startswith(mark)]


def _authorization(value: str) -> str:
    scheme, _, credentials = value.partition(" ")
    if scheme.lower() != "basic":
        return credentials.strip() if scheme.lower() == "bearer" else ""
    try:
        decoded = base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded.partition(":")[2]
