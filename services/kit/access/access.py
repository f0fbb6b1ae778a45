"""Who sends a request: nobody needs to say while access is off, everybody while it is on."""

import hmac
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import Scope as Request

from services.kit.access.caller import LOCAL, NOBODY, PLATFORM, Caller, Kind
from services.kit.access.credentials import (
    Credential,
    MissingCredentialError,
    WrongCredentialError,
    credential_of,
    passed_on,
)
from services.kit.access.keys import Keys
from services.kit.access.needs import Need
from services.kit.access.network import check_host, check_origin, is_loopback
from services.kit.access.settings import AccessMode, AccessSettings, OidcSettings
from services.kit.errors import FlowXpertError, UnauthorizedError
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database

if TYPE_CHECKING:
    from services.kit.access.tokens import Tokens

_LOOKED_EVERY_S = 1.0
"""While access is off because there is no key, a first one is noticed within this time."""


class UnsafeAddressError(FlowXpertError):
    """The configuration would serve other machines without asking who calls."""


class Access:
    """Recognises callers by the platform's key, by keys of the database, by an issuer's tokens."""

    def __init__(
        self,
        platform: PlatformSettings,
        *,
        keys: Keys | None = None,
        tokens: "Tokens | None" = None,
        settings: AccessSettings | None = None,
    ) -> None:
        """A service without a database has no `keys`; without an issuer there are no `tokens`."""
        self.settings = settings or AccessSettings()
        self._platform_key = platform.api_key
        self._keys = keys
        self._tokens = tokens
        self._has_keys = False
        self._looked_at = float("-inf")
        self._check_address(platform.host)

    @classmethod
    def of(cls, platform: PlatformSettings, database: Database | None = None) -> "Access":
        """As the settings say.

        Raises:
            UnsafeAddressError: They would serve other machines without asking who calls.
        """
        keys = Keys(database) if database else None
        return cls(platform, keys=keys, tokens=_tokens_of(OidcSettings()))

    @property
    def is_on(self) -> bool:
        """Whether a caller must say who it is; once a key exists, this stays so."""
        if self.settings.mode is not AccessMode.AUTO:
            return self.settings.mode is AccessMode.ON
        return self._platform_key is not None or self._tokens is not None or self._look_for_keys()

    def knows_at_once(self, headers: Headers) -> bool:
        """Whether `caller` answers from memory; else it may ask a database or an issuer."""
        credential = passed_on(headers) or credential_of(headers)
        if credential is None:
            return not self._is_to_look
        return self._is_platforms(credential.text) or bool(
            self._keys and self._keys.remembered(credential.text)
        )

    def caller(self, request: Request, need: Need | None) -> Caller:
        """Who sends the request; nobody, where a source may have signed it in a way of its own.

        Raises:
            MissingCredentialError: It does not say so, and must.
            WrongCredentialError: What it says is not true.
            ForbiddenError: A page of another site may have made a browser send it.
            UnavailableError: What would tell it did not answer.
        """
        headers = Headers(scope=request)
        if need is Need.OPEN:
            return NOBODY
        if not self.is_on:
            check_host(headers.get("host", ""))
            check_origin(request["method"], headers)
            return LOCAL
        try:
            return self._recognised(request["method"], headers)
        except UnauthorizedError:
            if need is not Need.SIGNED:
                raise
            return NOBODY

    def is_from_platform(self, credential: Credential | None) -> bool:
        """Whether another service of the platform sends it, for whomever."""
        return credential is not None and self._is_platforms(credential.text)

    def _recognised(self, method: str, headers: Headers) -> Caller:
        credential = credential_of(headers)
        if credential is None:
            raise MissingCredentialError(
                "send a key or token as `Authorization: Bearer …`, or a key as `X-API-Key: …`"
            )
        if credential.is_automatic:
            check_origin(method, headers)
        if not self._is_platforms(credential.text):
            return self._of_others(credential)
        behalf = passed_on(headers)
        return PLATFORM_KEY if behalf is None else self._of_others(behalf)

    def _of_others(self, credential: Credential) -> Caller:
        if not credential.text:
            raise WrongCredentialError("the key or token is empty, too long, or cannot be read")
        if credential.is_token and self._tokens is not None:
            return self._tokens.caller(credential.text)
        if self._keys is None:
            raise WrongCredentialError("the key is unknown here")
        return self._keys.remembered(credential.text) or self._keys.caller(credential.text)

    def _is_platforms(self, text: str) -> bool:
        key = self._platform_key
        return key is not None and hmac.compare_digest(
            text.encode(), key.get_secret_value().encode()
        )

    @property
    def _is_to_look(self) -> bool:
        is_late = time.monotonic() - self._looked_at > _LOOKED_EVERY_S
        return self._keys is not None and not self._has_keys and is_late

    def _look_for_keys(self) -> bool:
        """Looked up once in a while, until there is one."""
        if self._keys is not None and self._is_to_look:
            self._has_keys = self._keys.has_any()
            self._looked_at = time.monotonic()
        return self._has_keys

    def _check_address(self, host: str) -> None:
        if is_loopback(host):
            return
        if self.settings.mode is AccessMode.OFF:
            raise UnsafeAddressError(
                f"refusing to listen on {host!r} with access off: FLOWXPERT_ACCESS_MODE=off is for "
                "FLOWXPERT_HOST=127.0.0.1"
            )
        has_some = self._platform_key is not None or self._tokens is not None
        if not has_some and not self._look_for_keys():
            raise UnsafeAddressError(
                f"refusing to listen on {host!r} without a key: set FLOWXPERT_API_KEY, or make one "
                "with `flowxpert keys create`, or keep FLOWXPERT_HOST on 127.0.0.1"
            )


PLATFORM_KEY = Caller("api key", Kind.KEY, "key:platform", PLATFORM.scopes)
"""Whoever holds FLOWXPERT_API_KEY: an admin, but no person."""


def _tokens_of(settings: OidcSettings) -> "Tokens | None":
    if settings.issuer is None:
        return None
    from services.kit.access.tokens import Tokens  # noqa: PLC0415 - cryptography takes a while

    return Tokens(settings)
