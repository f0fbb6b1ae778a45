"""Settings of write-back."""

from typing import Literal

from pydantic import Field, HttpUrl, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class WriteBackSettings(Settings):
    """Systems that are notified of tickets; one without an address is not."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}WRITEBACK_")

    allowed_hosts: list[str] = Field(
        default=[],
        description="Hosts that may be written to, as JSON, such as "
        '`["acme.atlassian.net"]`. An address on another host is refused at start.',
    )
    allow_private: bool = Field(
        default=False,
        description="Whether these hosts may have loopback or private addresses, and speak plain "
        "HTTP.",
    )
    timeout_s: float = Field(default=10.0, gt=0, description="Seconds that a host may take.")
    most: int = Field(
        default=8,
        ge=1,
        le=100,
        description="Most notes that a system gets on one ticket; what comes after is on its page.",
    )
    public_url: HttpUrl | None = Field(
        default=None,
        description="Where people reach FlowXpert, for the link in what is written. Unset: "
        "FLOWXPERT_PUBLIC_URL.",
    )
    jira_url: HttpUrl | None = Field(
        default=None, description="Jira, as https://acme.atlassian.net; its issues get a comment."
    )
    jira_user: str = Field(default="", description="Mail address of the account. Empty: a bearer.")
    jira_token: SecretStr = Field(default=SecretStr(""), description="That account's API token.")
    servicenow_url: HttpUrl | None = Field(
        default=None, description="ServiceNow, as https://acme.service-now.com; gets a work note."
    )
    servicenow_user: str = Field(default="", description="User of the Table API.")
    servicenow_password: SecretStr = Field(default=SecretStr(""), description="Its password.")
    opsgenie_url: HttpUrl | None = Field(
        default=None,
        description="https://api.opsgenie.com/v2, or Jira Service Management's "
        "https://api.atlassian.com/jsm/ops/api/CLOUD/v1; alerts get a note.",
    )
    opsgenie_user: str = Field(
        default="", description="Mail address, for Jira Service Management. Empty: a GenieKey."
    )
    opsgenie_key: SecretStr = Field(default=SecretStr(""), description="API key or token.")
    pagerduty_url: HttpUrl | None = Field(
        default=None, description="https://api.pagerduty.com; incidents get a note."
    )
    pagerduty_token: SecretStr = Field(default=SecretStr(""), description="REST API token.")
    pagerduty_from: str = Field(default="", description="Mail address of the note's author.")
    chat_url: HttpUrl | None = Field(
        default=None, description="Incoming webhook of a chat that is told of every ticket."
    )
    chat_form: Literal["slack", "teams"] = Field(
        default="slack", description="What that webhook understands."
    )
    digest_day: Literal[
        "", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"
    ] = Field(
        default="",
        description="Day on which chat and callback are told which pages are to be mended or "
        "reviewed. Empty: never.",
    )
    digest_hour: int = Field(default=7, ge=0, le=23, description="From which hour on, in UTC.")
    callback_url: HttpUrl | None = Field(
        default=None, description="Address that is told of every ticket as signed JSON."
    )
    callback_secret: SecretStr = Field(
        default=SecretStr(""), description="Signs it: HMAC-SHA256 in `X-FlowXpert-Signature`."
    )
