"""What a request says about who sends it."""

import base64
import binascii
from dataclasses import dataclass, field

from starlette.datastructures import Headers

from services.kit.errors import UnauthorizedError

ON_BEHALF_HEADER = "x-flowxpert-on-behalf-of"
"""Between services: the credential of the caller whose request is passed on, beside the
platform's key."""

LONGEST = 16_384
"""Characters of a credential; a token with very many groups has some 8000."""


class MissingCredentialError(UnauthorizedError):
    """The request carries no key and no token."""


class WrongCredentialError(UnauthorizedError):
    """The key or token is unknown, revoked, expired or not for this platform."""


@dataclass(frozen=True)
class Credential:
    """A key or a token."""

    text: str = field(repr=False)
    is_automatic: bool = False
    """Whether a browser sends it by itself, whichever page asks for the request."""

    @property
    def is_token(self) -> bool:
        """Whether it is a signed token (three parts) rather than a key."""
        return self.text.count(".") == 2


def credential_of(headers: Headers) -> Credential | None:
    """The credential of a request; None where it carries none.

    Raises:
        WrongCredentialError: It cannot be read.
    """
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    match scheme.lower():
        case "":
            text, is_automatic = headers.get("x-api-key", ""), False
        case "bearer":
            text, is_automatic = rest.strip(), False
        case "basic":
            text, is_automatic = _password(rest.strip()), True
        case _:
            raise WrongCredentialError("expected `Authorization: Bearer …`")
    if not text and "authorization" not in headers and "x-api-key" not in headers:
        return None
    if not text or len(text) > LONGEST or not text.isascii():
        raise WrongCredentialError("the key or token is empty, too long, or no ASCII text")
    return Credential(text, is_automatic)


def _password(encoded: str) -> str:
    """A browser's user types the key as the password; the user name says nothing."""
    try:
        return base64.b64decode(encoded, validate=True).decode("ascii").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
