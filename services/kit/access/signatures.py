"""The door for deliveries that carry no key: what their source has signed itself."""

from collections.abc import Mapping
from typing import Protocol

from services.kit.access.caller import Caller, Kind
from services.kit.access.credentials import MissingCredentialError
from services.kit.access.scopes import Scope


class Signatures(Protocol):
    """Checks deliveries by the signatures or tokens of their sources."""

    def verified(self, source: str | None, headers: Mapping[str, str], raw: bytes) -> str | None:
        """Name of the source that signed this; None where it is not signed at all.

        `source` is that of the address, None where the body's shape tells it.

        Raises:
            UnauthorizedError: It is signed, and wrongly.
        """


def caller_of_delivery(
    caller: Caller,
    signatures: Signatures | None,
    source: str | None,
    headers: Mapping[str, str],
    raw: bytes,
) -> Caller:
    """Who delivers: the caller where it may, else the source whose signature the delivery carries.

    A source is let in for this one delivery: `operate` is all that it has.

    Raises:
        UnauthorizedError: Nobody stands for the delivery, or the signature is wrong.
    """
    if caller.kind is not Kind.NOBODY:
        return caller
    name = signatures.verified(source, headers, raw) if signatures else None
    if name is None:
        raise MissingCredentialError(
            "no key that is taken, and no signature: send a key with `operate`, or what the source "
            "signs its deliveries with"
        )
    return Caller(f"source {name}", Kind.SOURCE, f"source:{name}", frozenset({Scope.OPERATE}))
