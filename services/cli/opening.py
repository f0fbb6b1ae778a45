"""What commands work on: settings, the data folder, a running platform. Imported when needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel, SecretStr

    from services.embedded import Embedded
    from services.kit.http.client import ServiceClient
    from services.kit.settings import PlatformSettings, Settings
    from services.kit.sql.database import Database

ANSWER_WITHIN_S = 70
"""Longest that a command waits for a running platform: a walk takes up to a minute."""


def settings_classes() -> tuple[type["Settings"], ...]:
    """Every class of settings, in the order they are printed."""
    from services.contracts.addresses import AddressSettings  # noqa: PLC0415
    from services.gateway.settings import GatewaySettings  # noqa: PLC0415
    from services.gateway.sources.settings import WebhookSettings  # noqa: PLC0415
    from services.gateway.writeback.settings import WriteBackSettings  # noqa: PLC0415
    from services.ingestion.settings import IngestionSettings  # noqa: PLC0415
    from services.ingestion.sync.settings import SyncSettings  # noqa: PLC0415
    from services.kit.access.settings import AccessSettings, OidcSettings  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415
    from services.knowledge.settings import QdrantSettings  # noqa: PLC0415
    from services.llm.settings import ModelSettings  # noqa: PLC0415
    from services.planner.settings import PlannerSettings  # noqa: PLC0415
    from services.retrieval.settings import RetrievalSettings  # noqa: PLC0415
    from services.scorer.settings import ScorerSettings  # noqa: PLC0415

    return (
        PlatformSettings,
        AccessSettings,
        OidcSettings,
        QdrantSettings,
        ModelSettings,
        AddressSettings,
        GatewaySettings,
        WebhookSettings,
        WriteBackSettings,
        IngestionSettings,
        SyncSettings,
        RetrievalSettings,
        PlannerSettings,
        ScorerSettings,
    )


def read_settings(**given: object) -> "PlatformSettings":
    """The platform's settings, options before variables; unknown variables are reported."""
    from services.kit.observability.logging import configure_logging  # noqa: PLC0415
    from services.kit.settings import PlatformSettings, report_unknown  # noqa: PLC0415

    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    settings = PlatformSettings(**chosen)
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    report_unknown(settings_classes())
    return settings


def open_platform(settings: "PlatformSettings") -> "Embedded":
    """Everything in this process; the data folder is owned until it is closed."""
    from services.embedded import Embedded  # noqa: PLC0415

    return Embedded.open(settings)


def client_of(url: str) -> "ServiceClient":
    """A running platform, with the key or token of the settings."""
    from services.kit.http.client import ServiceClient  # noqa: PLC0415

    return ServiceClient(url, api_key=key_of_settings(), timeout_s=ANSWER_WITHIN_S)


def key_of_settings() -> "SecretStr | None":
    """What commands show to a running platform."""
    from services.contracts.addresses import AddressSettings  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415

    return AddressSettings().token or PlatformSettings().api_key


@contextmanager
def open_database(settings: "PlatformSettings") -> Iterator["Database"]:
    """The database, beside whatever process runs on it."""
    from services.kit.migrations import ROOMS  # noqa: PLC0415
    from services.kit.sql.database import Database  # noqa: PLC0415

    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = Database(settings.resolved_database_url)
    try:
        database.migrate(*ROOMS)
        yield database
    finally:
        database.close()


def say(markup: str) -> None:
    """Tell people something, on stderr."""
    from services.terminal import errors  # noqa: PLC0415

    errors.print(markup)


def print_json(message: "BaseModel") -> None:
    """A result for programs."""
    typer.echo(message.model_dump_json(indent=2))
