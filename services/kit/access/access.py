"""Authentication of requests: optional while access is off, required while it is on."""

import hmac
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import Scope as Request

from services.kit.access.caller import LOCAL, NOBODY, PLATFORM_KEY, Caller
from services.kit.access.credentials import (
    Credential,
    MissingCredentialError,
    WrongCredentialError,
    credential_of,
    forwarded_credential,
)
from services.kit.access.keys import Keys
from services.kit.access.needs import Need
from services.kit.access.network import ForeignHostError, OwnNames, is_loopback
from services.kit.access.sessions.cookies import SESSION_PREFIX, Cookies
from services.kit.access.sessions.people import People
from services.kit.access.sessions.sessions import SessionEndedError, Sessions
from services.kit.access.settings import AccessMode, AccessSettings, OidcSettings
from services.kit.errors import FlowXpertError, UnauthorizedError, UnavailableError
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database

if TYPE_CHECKING:
    from services.kit.access.issuer.tokens import Tokens

_KEY_LOOKUP_EVERY_S = 1.0
"""Longest time until a first key is noticed while access is off for lack of one."""


class UnsafeAddressError(FlowXpertError):
    """The configuration would serve other machines without authentication."""


class Access:
    """Authenticator of callers: by the platform's key, keys of the database, an issuer's tokens."""

    def __init__(
        self,
        platform: PlatformSettings,
        *,
        keys: Keys | None = None,
        tokens: "Tokens | None" = None,
        sessions: Sessions | None = None,
        people: People | None = None,
        settings: AccessSettings | None = None,
    ) -> None:
        """Take the credentials' stores: none without a database, no `tokens` without an issuer."""
        self.settings = settings or AccessSettings()
        self.tokens = tokens
        self.sessions = sessions
        public_url = str(platform.public_url) if platform.public_url else None
        self.cookies = Cookies(public_url)
        self._names = OwnNames(public_url, self.settings.hosts)
        self._people = people
        self._platform_key = platform.api_key
        self._keys = keys
        self._has_keys = False
        self._looked_at = float("-inf")
        self._check_address(platform.host)

    @classmethod
    def of(cls, platform: PlatformSettings, database: Database | None = None) -> "Access":
        """Build it from the settings.

        Raises:
            UnsafeAddressError: They would serve other machines without authentication.
        """
        oidc = OidcSettings()
        keys = Keys(database) if database else None
        sessions = (
            Sessions(database, keys, issuer=oidc.issuer, platform_key=platform.api_key)
            if database and keys
            else None
        )
        if oidc.issuer is None:
            return cls(platform, keys=keys, sessions=sessions)
        from services.kit.access.issuer.tokens import Tokens  # noqa: PLC0415 - cryptography takes a while

        people = People(database) if database else None
        return cls(platform, keys=keys, tokens=Tokens(oidc), sessions=sessions, people=people)

    @property
    def is_on(self) -> bool:
        """True if callers must authenticate; once a key exists, this stays so."""
        if self.settings.mode is not AccessMode.AUTO:
            return self.settings.mode is AccessMode.ON
        return self._platform_key is not None or self.tokens is not None or self._look_for_keys()

    @property
    def accepts_keys(self) -> bool:
        """True if there is a key that somebody may sign in with."""
        return self._platform_key is not None or self._look_for_keys()

    def credential(self, request: Request) -> Credential | None:
        """Return the credential of a request: from its headers, else its browser's session."""
        from_headers = credential_of(Headers(scope=request))
        if from_headers is not None or self.sessions is None:
            return from_headers
        session_id = self.cookies.session(request)
        if session_id is None:
            return None
        return Credential(session_id, is_automatic=True, is_session=True)

    def can_answer_from_memory(self, request: Request) -> bool:
        """Tell whether `caller` needs neither a database nor an issuer for this request."""
        credential = _forwarded_credential(request) or self.credential(request)
        if credential is None:
            return not self._is_lookup_due
        return self.is_from_platform(credential) or self._cached_caller(credential) is not None

    def caller(self, request: Request, need: Need | None) -> Caller:
        """Authenticate the sender; nobody, if a source may have signed it in its own way.

        Raises:
            MissingCredentialError: It carries no credential, and must.
            WrongCredentialError: Its credential is not valid.
            ForbiddenError: A page of another site may have made a browser send it.
            UnavailableError: The database or the issuer did not answer.
        """
        headers = Headers(scope=request)
        if need is Need.OPEN:
            return NOBODY
        if need is Need.SIGN_IN:
            self._names.check_origin(request["method"], headers)
            return NOBODY
        if not self.is_on:
            try:
                self._names.check_host(headers)
            except ForeignHostError:
                if need is Need.SIGNED:
                    return NOBODY
                raise
            self._names.check_origin(request["method"], headers)
            return LOCAL
        try:
            return self._authenticate(request)
        except UnauthorizedError:
            with suppress(UnavailableError):  # the page that tells of it offers them
                self._look_for_keys()
            if need is not Need.SIGNED:
                raise
            return NOBODY

    def is_from_platform(self, credential: Credential | None) -> bool:
        """Tell whether another service of the platform sends it, on anybody's behalf."""
        if credential is None or credential.is_session:
            return False
        key = self._platform_key
        return key is not None and hmac.compare_digest(
            credential.text.encode(), key.get_secret_value().encode()
        )

    def _authenticate(self, request: Request) -> Caller:
        headers = Headers(scope=request)
        credential = self.credential(request)
        if credential is None:
            raise MissingCredentialError(
                "send a key or token as `Authorization: Bearer …`, or a key as `X-API-Key: …`"
            )
        if credential.is_automatic:
            self._names.check_origin(request["method"], headers)
        is_use = "text/event-stream" not in headers.get("accept", "")
        if not self.is_from_platform(credential):
            return self._caller_of(credential, is_use=is_use)
        behalf = _forwarded_credential(request)
        return PLATFORM_KEY if behalf is None else self._caller_of(behalf, is_use=is_use)

    def _caller_of(self, credential: Credential, *, is_use: bool) -> Caller:
        cached = self._cached_caller(credential)
        if cached is not None:
            return cached
        if credential.is_session:
            if self.sessions is None or not credential.text:
                raise SessionEndedError("your session has ended: sign in again")
            return self.sessions.caller(credential.text, is_use=is_use)
        if not credential.text:
            raise WrongCredentialError("the key or token is empty, too long, or cannot be read")
        if credential.is_token and self.tokens is not None:
            person = self.tokens.caller(credential.text)
            if self._people is not None and person.roles:
                return self._people.record(person)
            return person
        if self._keys is None:
            raise WrongCredentialError("the key is unknown here")
        return self._keys.caller(credential.text)

    def _cached_caller(self, credential: Credential) -> Caller | None:
        if credential.is_session:
            return self.sessions.cached_caller(credential.text) if self.sessions else None
        return self._keys.cached_caller(credential.text) if self._keys else None

    @property
    def _is_lookup_due(self) -> bool:
        is_late = time.monotonic() - self._looked_at > _KEY_LOOKUP_EVERY_S
        return self._keys is not None and not self._has_keys and is_late

    def _look_for_keys(self) -> bool:
        """Check for keys once in a while, until there is one."""
        if self._keys is not None and self._is_lookup_due:
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
        has_some = self._platform_key is not None or self.tokens is not None
        if not has_some and not self._look_for_keys():
            raise UnsafeAddressError(
                f"refusing to listen on {host!r} without a key: set FLOWXPERT_API_KEY, or make one "
                "with `flowxpert keys create`, or keep FLOWXPERT_HOST on 127.0.0.1"
            )


def _forwarded_credential(request: Request) -> Credential | None:
    """Return the credential of the caller whose request another service forwards."""
    credential = forwarded_credential(Headers(scope=request))
    if credential is None or not credential.text.startswith(SESSION_PREFIX):
        return credential
    return Credential(credential.text, is_session=True)
