"""Bearer tokens of the configured issuer: checked by PyJWT, mapped to roles."""

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

import jwt

from services.kit.access.caller import Caller, Kind
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.issuer.jwks import Jwks, SigningKey
from services.kit.access.scopes import Role, scopes_of
from services.kit.access.settings import OidcSettings
from services.kit.text import visible_text

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""With two keys, one of them public: whoever can check a token cannot make one."""

_NAME_LENGTH = 200

_TAKEN = re.compile(r"(?i)(?:(?:key|source|api) .*|local|platform|nobody|me)\Z", re.DOTALL)
"""What callers that are no people are called."""


class Tokens:
    """Callers by their tokens. Safe to share between threads."""

    def __init__(self, settings: OidcSettings, jwks: Jwks | None = None) -> None:
        """`settings` must name an issuer."""
        self._settings = settings
        self._jwks = jwks or Jwks(str(settings.jwks_url))

    def caller(self, token: str) -> Caller:
        """The person that the token names.

        Raises:
            WrongCredentialError: It is no token of this issuer for this platform, or expired.
            IssuerUnavailableError: The issuer's keys cannot be had.
        """
        claims = self.claims(token, str(self._settings.audience))
        roles = self.roles(claims) or frozenset()
        return Caller(
            self.name(claims),
            Kind.PERSON,
            f"{self._settings.issuer}#{claims['sub']}",
            scopes_of(roles),
            roles,
            credential=token,
        )

    def claims(self, token: str, audience: str) -> dict[str, Any]:
        """What a token for this audience says, `sub` at least; raises as `caller` does."""
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
            return claims  # noqa: TRY300 - it is what was decoded
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise WrongCredentialError(f"the token is not taken: {error}"[:200]) from error

    def name(self, claims: Mapping[str, Any]) -> str:
        """What the person is called; never what the platform calls somebody else."""
        subject = str(claims["sub"])
        given = claims.get(self._settings.name_claim)
        name = " ".join(visible_text(given).split()) if _is_text(given) else ""
        if not name:
            return subject[:_NAME_LENGTH]
        told = f"{name[: _NAME_LENGTH // 2]} ({subject[:80]})"
        return told if _TAKEN.match(name) else name[:_NAME_LENGTH]

    def roles(self, claims: Mapping[str, Any]) -> frozenset[Role] | None:
        """The roles that are known here; None where the claims say nothing of roles."""
        found: Any = claims
        for part in self._settings.roles_claim.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        if found is None:
            return None
        named = found.split() if isinstance(found, str) else found
        known = self._settings.roles
        values = named if isinstance(named, list) else []
        return frozenset(known[each] for each in values if _is_text(each) and each in known)

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


def _is_text(value: object) -> TypeGuard[str]:
    """Whether a claim is text."""
    return isinstance(value, str)
