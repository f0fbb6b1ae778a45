"""Bearer tokens of the configured issuer: checked by PyJWT, mapped to roles."""

from collections.abc import Mapping
from typing import Any

import jwt

from services.kit.access.caller import Caller, Kind
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.jwks import Jwks, SigningKey
from services.kit.access.scopes import SCOPES_OF_ROLE, Role
from services.kit.access.settings import OidcSettings

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
"""With two keys, one of them public: whoever can check a token cannot make one."""

_NAME_LENGTH = 200


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
        claims = self._claims(token)
        roles = frozenset(self._roles(claims))
        scopes = frozenset[Any]().union(*(SCOPES_OF_ROLE[role] for role in roles))
        subject = str(claims["sub"])
        name = claims.get(self._settings.name_claim)
        return Caller(
            str(name if isinstance(name, str) and name.strip() else subject)[:_NAME_LENGTH],
            Kind.PERSON,
            f"{self._settings.issuer}#{subject}",
            scopes,
            roles,
            credential=token,
        )

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            key = self._key(header)
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm] if key.algorithm else list(ALGORITHMS),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway_s,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            return claims  # noqa: TRY300 - it is what was decoded
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise WrongCredentialError(f"the token is not taken: {error}"[:200]) from error

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

    def _roles(self, claims: Mapping[str, Any]) -> set[Role]:
        found: Any = claims
        for part in self._settings.roles_claim.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        named = found.split() if isinstance(found, str) else found
        known = self._settings.roles
        values = named if isinstance(named, list) else []
        return {known[each] for each in values if isinstance(each, str) and each in known}
