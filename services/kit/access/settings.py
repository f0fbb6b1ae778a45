"""Settings of authentication and rate limits."""

from enum import StrEnum
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.network import is_loopback
from services.kit.access.scopes import Role
from services.kit.settings import PREFIX, Settings


class AccessMode(StrEnum):
    """Switch for authentication."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class AccessSettings(Settings):
    """Authentication of callers, and the rate limits of each."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}ACCESS_")

    mode: AccessMode = Field(
        default=AccessMode.AUTO,
        description="`on`: every caller needs a key or a token. `off`: nobody does, on loopback "
        "only. `auto`: on, except on loopback as long as there is no key and no issuer.",
    )
    hosts: list[str] = Field(
        default=[],
        description="Names by which FlowXpert is reached while access is off, beside loopback and "
        'FLOWXPERT_PUBLIC_URL, as JSON, such as a tunnel\'s `["hooks.example.org"]`. Whoever '
        "reaches it there may do everything.",
    )
    requests_per_s: float = Field(
        default=200.0,
        ge=0,
        description="Requests a second that one key or person may send; more are answered 429. 0 "
        "for no limit.",
    )
    burst: int = Field(default=1000, ge=1, description="Of them, how many may come at once.")
    address_requests_per_s: float = Field(
        default=400.0,
        ge=0,
        description="Requests a second from one address, whoever sends them; 0 for no limit. "
        "Behind a reverse proxy see FORWARDED_ALLOW_IPS of uvicorn.",
    )
    address_burst: int = Field(
        default=2000, ge=1, description="Of them, how many may come at once."
    )
    session_idle_s: float = Field(
        default=28_800.0,
        ge=300,
        description="Seconds after which a browser in which nobody does anything is signed out.",
    )
    session_s: float = Field(
        default=86_400.0,
        ge=300,
        description="Seconds after which a browser is signed out in any case. A person's roles "
        "are those of their sign-in until then.",
    )


class OidcSettings(Settings):
    """The issuer whose bearer tokens identify people, and the meaning of its roles here."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}OIDC_")

    issuer: str | None = Field(
        default=None,
        description="Issuer as its tokens name it (`iss`). Unset: no bearer tokens are taken.",
    )
    audience: str | None = Field(
        default=None, description="What the tokens must be for (`aud`). Needed with an issuer."
    )
    jwks_url: str | None = Field(
        default=None,
        description="Where the issuer's public keys are: https, or http on loopback. Needed with "
        "an issuer; keys come from nowhere else.",
    )
    roles_claim: str = Field(
        default="roles",
        description="Claim that holds the roles; dots lead into objects: `realm_access.roles`.",
    )
    roles: dict[str, Role] = Field(
        default={role.value: role for role in Role},
        description="Which values of that claim make a caller `viewer`, `responder`, `approver` "
        "or `admin`, as JSON.",
    )
    name_claim: str = Field(
        default="preferred_username",
        description="Claim with the name that is written down; `sub` where it is missing.",
    )
    client_id: str | None = Field(
        default=None,
        description="What FlowXpert is called at the issuer. With it people sign in by their "
        "browser; unset, they send tokens that they got elsewhere.",
    )
    client_secret: SecretStr | None = Field(
        default=None,
        description="That client's secret. Unset: a public client, which PKCE alone protects.",
    )
    authorization_url: str | None = Field(
        default=None,
        description="Where the issuer asks people who they are. Unset: as the issuer's "
        "`/.well-known/openid-configuration` says, and so is the next.",
    )
    token_url: str | None = Field(
        default=None, description="Where the issuer answers codes with tokens."
    )
    scopes: str = Field(
        default="openid profile",
        description="What is asked of the issuer, with spaces; `openid` must be among it.",
    )
    leeway_s: float = Field(
        default=30.0,
        ge=0,
        le=300,
        description="Seconds by which clocks may differ.",
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.issuer is None:
            return self
        if not self.audience or not self.jwks_url:
            raise ValueError("an issuer needs FLOWXPERT_OIDC_AUDIENCE and FLOWXPERT_OIDC_JWKS_URL")
        for name in ("jwks_url", "authorization_url", "token_url"):
            if not is_safe_address(getattr(self, name) or "https:"):
                raise ValueError(
                    f"FLOWXPERT_OIDC_{name.upper()} must be https, or http on loopback"
                )
        if self.client_id and "openid" not in self.scopes.split():
            raise ValueError("FLOWXPERT_OIDC_SCOPES must hold `openid`")
        return self


def is_safe_address(url: str) -> bool:
    """Tell whether nobody on the way can read or change what is sent to a URL."""
    address = urlsplit(url)
    return address.scheme == "https" or (
        address.scheme == "http" and is_loopback(address.hostname or "")
    )
