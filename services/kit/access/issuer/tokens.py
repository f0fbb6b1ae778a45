"""Bearer tokens of the configured issuer: checked by PyJWT, mapped to roles."""

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import jwt
import structlog

from services.kit.access.caller import Caller, CallerKind
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.issuer.answers import IssuerAnswers
from services.kit.access.scopes import Role, scopes_of_roles
from services.kit.access.settings import OidcSettings
from services.kit.errors import UnavailableError
from services.kit.text import visible_text

FRESH_S = 600.0
"""Age at which keys are fetched again."""
KEPT_S = 3600.0
"""Age up to which keys that cannot be fetched again are trusted."""
UNKNOWN_EVERY_S = 30.0
"""Least time between two fetches because of an unknown key id."""
RETRY_S = 5.0
"""Pause after a fetch that failed."""

_log = structlog.get_logger()


class IssuerUnavailableError(UnavailableError):
    """The issuer's keys cannot be fetched, so that no token can be verified."""


@dataclass(frozen=True)
class SigningKey:
    """A public key, with its algorithm if the issuer states it."""

    key: Any
    algorithm: str | None


class Jwks:
    """An issuer's keys by id; thread-safe, one thread fetches."""

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answers = IssuerAnswers(transport)
        self._url = url
        self._clock = clock
        self._keys: dict[str, SigningKey] = {}
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._failure = ""
        self._lock = threading.Lock()

    def key(self, key_id: str) -> SigningKey | None:
        """Return the key with this id; None if the issuer has none.

        Raises:
            IssuerUnavailableError: The issuer was not reached, and no cached key will do.
        """
        if not self._is_cached(key_id, FRESH_S):
            with self._lock:
                if not self._is_cached(key_id, FRESH_S) and self._may_fetch(key_id):
                    self._fetch()
        if self._is_cached(key_id, KEPT_S):
            return self._keys[key_id]
        if self._failure:
            raise IssuerUnavailableError(
                f"the issuer's keys cannot be fetched from {self._url}: {self._failure}"
            )
        return None

    def _is_cached(self, key_id: str, age_s: float) -> bool:
        return key_id in self._keys and self._clock() - self._fetched_at < age_s

    def _may_fetch(self, key_id: str) -> bool:
        is_unknown = self._clock() - self._fetched_at < FRESH_S and key_id not in self._keys
        pause_s = UNKNOWN_EVERY_S if is_unknown and not self._failure else RETRY_S
        return self._clock() - self._tried_at >= pause_s

    def _fetch(self) -> None:
        self._tried_at = self._clock()
        try:
            self._keys = _keys_of(self._answers.get(self._url))
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            self._failure = str(error)[:200] or type(error).__name__
            _log.warning("kit.issuer_unavailable", url=self._url, reason=self._failure)
        else:
            self._failure = ""
            self._fetched_at = self._clock()


def _keys_of(document: Any) -> dict[str, SigningKey]:  # noqa: ANN401 - JSON
    """Return the signing keys by id; keys of unsupported types are left out.

    Raises:
        ValueError: It is no set of keys.
    """
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it answered no set of keys")  # noqa: TRY004 - JSON of another shape
    return {each["kid"]: key for each in entries if (key := _key_of(each)) is not None}


def _key_of(jwk: Any) -> SigningKey | None:  # noqa: ANN401 - JSON
    if not isinstance(jwk, dict) or not isinstance(jwk.get("kid"), str):
        return None
    if jwk.get("kty") not in {"RSA", "EC", "OKP"} or jwk.get("use") == "enc":
        return None
    try:
        return SigningKey(jwt.PyJWK.from_dict(jwk).key, jwk.get("alg"))
    except jwt.PyJWTError:
        return None


ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""Asymmetric algorithms: whoever can verify a token cannot make one."""

_NAME_LENGTH = 200

_RESERVED = re.compile(r"(?i)(?:(?:key|source|api) .*|local|platform|nobody|me)\Z", re.DOTALL)
"""Names of callers that are not people."""


class Tokens:
    """Callers by their tokens; thread-safe."""

    def __init__(self, settings: OidcSettings, jwks: Jwks | None = None) -> None:
        """Take settings, which must name an issuer."""
        self._settings = settings
        self._jwks = jwks or Jwks(str(settings.jwks_url))

    def caller(self, token: str) -> Caller:
        """Return the person that the token identifies.

        Raises:
            WrongCredentialError: It is no token of this issuer for this platform, or expired.
            IssuerUnavailableError: The issuer's keys cannot be fetched.
        """
        claims = self.claims(token, str(self._settings.audience))
        roles = self.roles(claims) or frozenset()
        return Caller(
            self.name(claims),
            CallerKind.PERSON,
            f"{self._settings.issuer}#{claims['sub']}",
            scopes_of_roles(roles),
            roles,
            credential=token,
        )

    def claims(self, token: str, audience: str) -> dict[str, Any]:
        """Verify a token for this audience and return its claims; raises as `caller` does."""
        try:
            header = jwt.get_unverified_header(token)
            key = self._key(header)
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm] if key.algorithm else list(ALGORITHMS),
                audience=audience,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway_s,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise WrongCredentialError(f"the token is not taken: {error}"[:200]) from error
        if not visible_text(claims["sub"]).strip():
            raise WrongCredentialError("the token names nobody: its `sub` is blank")
        return claims

    def name(self, claims: Mapping[str, Any]) -> str:
        """Return the person's name; never one that the platform uses for other callers."""
        subject = str(claims["sub"])
        claim = claims.get(self._settings.name_claim)
        name = " ".join(visible_text(claim).split()) if isinstance(claim, str) else ""
        name = name or subject
        qualified = f"{name[: _NAME_LENGTH // 2]} ({subject[:80]})"
        return qualified if _RESERVED.match(name) else name[:_NAME_LENGTH]

    def roles(self, claims: Mapping[str, Any]) -> frozenset[Role] | None:
        """Return the roles known here; None if the claims have no roles."""
        claim: Any = claims
        for part in self._settings.roles_claim.split("."):
            claim = claim.get(part) if isinstance(claim, Mapping) else None
        if claim is None:
            return None
        named = claim.split() if isinstance(claim, str) else claim
        role_of_value = self._settings.roles
        values = named if isinstance(named, list) else []
        return frozenset(
            role_of_value[each]
            for each in values
            if isinstance(each, str) and each in role_of_value
        )

    def _key(self, header: Mapping[str, Any]) -> SigningKey:
        key_id, algorithm = header.get("kid"), header.get("alg")
        if algorithm not in ALGORITHMS:
            raise WrongCredentialError("the token is not signed with a pair of keys")
        if not isinstance(key_id, str):
            raise WrongCredentialError("the token does not say which key it is signed with")
        key = self._jwks.key(key_id)
        if key is None or (key.algorithm and key.algorithm not in ALGORITHMS):
            raise WrongCredentialError("the issuer has no such key")
        return key
