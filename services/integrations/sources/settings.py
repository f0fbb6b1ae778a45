"""Settings of the webhooks: secrets of the sources, and mappings of further ones."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.integrations.sources.proof import Credentials
from services.kit.settings import PREFIX, Settings

_UNSET = "Unset: taken from loopback, or with the platform's key."

_SECRET_CHARACTERS = 16
_Secret = Annotated[SecretStr, Field(min_length=_SECRET_CHARACTERS)]


def _secret(description: str) -> SecretStr | None:
    # pydantic's Field is typed as what the field holds.
    field: SecretStr | None = Field(
        default=None, min_length=_SECRET_CHARACTERS, description=f"{description} {_UNSET}"
    )
    return field


class WebhookSettings(Settings):
    """Secrets by which ticket systems prove a delivery, and mappings of further systems.

    A token comes as `Authorization: Bearer`, as the password of `Basic`, or in `X-FlowXpert-Token`.
    """

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}WEBHOOK_")

    alertmanager_secret: SecretStr | None = _secret("Alertmanager sends it as a token.")
    grafana_secret: SecretStr | None = _secret(
        "Grafana signs with it (HMAC in `X-Grafana-Alerting-Signature`), or sends it as a token."
    )
    pagerduty_secret: SecretStr | None = _secret("PagerDuty signs with it.")
    jira_secret: SecretStr | None = _secret(
        "Jira signs with it (`X-Hub-Signature`), or sends it as a token."
    )
    opsgenie_secret: SecretStr | None = _secret(
        "Opsgenie or Jira Service Management sends it as a token."
    )
    servicenow_secret: SecretStr | None = _secret("ServiceNow sends it as a token.")
    datadog_secret: SecretStr | None = _secret("Datadog sends it as a token.")
    cloudwatch_secret: SecretStr | None = _secret(
        "EventBridge sends it as a token; SNS as the password in the address."
    )
    zabbix_secret: SecretStr | None = _secret("Zabbix sends it as a token.")
    sentry_secret: SecretStr | None = _secret("Sentry signs with it: its client secret.")
    generic_secret: SecretStr | None = _secret(
        "Signs the body (`X-Hub-Signature-256: sha256=…`), or is sent as a token."
    )
    mapped_secrets: dict[str, _Secret] = Field(
        default={},
        description="Secrets of the sources that have no variable of their own, those of mappings "
        'above all, as JSON: {"name": "secret"}.',
    )
    mappings: Path | None = Field(
        default=None,
        description="YAML file that describes further ticket systems, or describes anew those that "
        "come with the gateway.",
    )
    sns_topics: list[str] = Field(
        default=[],
        description="ARNs of the SNS topics whose messages are taken, as JSON; each must be signed "
        "by AWS SNS. Empty: SNS shows the secret of CloudWatch.",
    )
    sns_confirm: bool = Field(
        default=False,
        description="Whether a subscription of one of these topics is confirmed when SNS asks.",
    )

    def credentials(self, source: str) -> Credentials:
        """Return the credentials of a source; false if nothing is set."""
        own: SecretStr | None = getattr(self, f"{source}_secret", None)
        secret = own or self.mapped_secrets.get(source)
        topics = frozenset(self.sns_topics) if source == "cloudwatch" else frozenset[str]()
        return Credentials(secret.get_secret_value() if secret else "", topics)
