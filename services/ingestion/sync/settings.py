"""Settings of syncs."""

from pydantic import Field, HttpUrl, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class SyncSettings(Settings):
    """Which hosts repositories may come from, what they may take, and who is told."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SYNC_")

    allowed_hosts: list[str] = Field(
        default=[],
        description="Hosts that Git repositories may come from, and that may be told of syncs, as "
        'JSON, such as `["git.acme.net"]`. file:///… needs a folder below '
        "FLOWXPERT_INGESTION_ALLOWED_ROOTS instead.",
    )
    allow_private: bool = Field(
        default=False,
        description="Whether these hosts may have loopback or private addresses, and speak plain "
        "HTTP.",
    )
    credentials: dict[str, SecretStr] = Field(
        default={},
        description="Who fetches, as JSON: the beginning of an address after its scheme to "
        '`user:token`, such as `{"git.acme.net/ops/": "reader:…"}`; the longest that fits.',
    )
    most_bytes: int = Field(
        default=500_000_000, gt=0, description="Most bytes that one fetch may bring."
    )
    within_s: float = Field(default=600.0, gt=0, description="Longest time for one fetch.")
    callback_url: HttpUrl | None = Field(
        default=None,
        description="Address that is told, as signed JSON, of syncs that failed or that took "
        "approvals away.",
    )
    callback_secret: SecretStr = Field(
        default=SecretStr(""), description="Signs it: HMAC-SHA256 in `X-FlowXpert-Signature`."
    )
