"""Credentials that a request carries."""

import base64
import binascii
from dataclasses import dataclass, field

from starlette.datastructures import Headers

from services.kit.errors import UnauthorizedError

ON_BEHALF_HEADER = "x-flowxpert-on-behalf-of"
"""Header between services with the credential of the caller whose request is forwarded, beside the
platform's key.
"""

LONGEST = 16_384
"""Most characters of a credential; a token with very many groups has some 8000."""


class MissingCredentialError(UnauthorizedError):
    """The request carries no key and no token."""


class WrongCredentialError(UnauthorizedError):
    """The key or token is unknown, revoked, expired or not for this platform."""


@dataclass(frozen=True)
class Credential:
    """A key or a token; its text is empty if it cannot be read."""

    text: str = field(repr=False)
    is_automatic: bool = False
    """True if a browser sends it by itself, whichever page makes the request."""
    is_session: bool = False
    """True if it is the id of a browser's session, which is neither a key nor a token."""

    @property
    def is_token(self) -> bool:
        """True if it is a signed token (three parts) rather than a key."""
        return self.text.count(".") == 2


def credential_of(headers: Headers) -> Credential | None:
    """Return the credential of a request; None if it carries none."""
    if "authorization" not in headers:
        key = headers.get("x-api-key")
        return None if key is None else _readable(key)
    scheme, _, rest = headers["authorization"].partition(" ")
    match scheme.lower():
        case "bearer":
            return _readable(rest.strip())
        case "basic":
            return _readable(_password(rest.strip()), is_automatic=True)
        case _:
            return Credential("")


def forwarded_credential(headers: Headers) -> Credential | None:
    """Return the credential of the caller whose request another service forwards."""
    header = headers.get(ON_BEHALF_HEADER)
    return None if header is None else _readable(header)


def _readable(text: str, *, is_automatic: bool = False) -> Credential:
    is_usable = text.isascii() and len(text) <= LONGEST
    return Credential(text if is_usable else "", is_automatic)


def _password(encoded: str) -> str:
    """Return the password of Basic authentication, which is the key; the user name is ignored."""
    try:
        return base64.b64decode(encoded, validate=True).decode("ascii").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
