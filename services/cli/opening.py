"""What commands work on: settings, the data folder, a running platform. Imported when needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from services.kit.errors import FlowXpertError

if TYPE_CHECKING:
    from pydantic import BaseModel, SecretStr

    from services.kit.http.client import ServiceClient
    from services.kit.settings import PlatformSettings
    from services.kit.sql.database import Database
    from services.serving.embedded import Embedded

ANSWER_WITHIN_S = 70
"""Longest that a command waits for a running platform: a walk takes up to a minute."""


class OneServiceError(FlowXpertError):
    """The image of one service cannot open all of them."""


def read_settings(**given: object) -> "PlatformSettings":
    """The platform's settings, options before variables; unknown variables are reported."""
    from services.kit.observability.logging import configure_logging  # noqa: PLC0415
    from services.kit.settings import PlatformSettings, report_unknown  # noqa: PLC0415
    from services.serving.rooms import SETTINGS  # noqa: PLC0415

    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    settings = PlatformSettings(**chosen)
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    report_unknown(SETTINGS)
    return settings


def open_platform(settings: "PlatformSettings") -> "Embedded":
    """Everything in this process; the data folder is owned until it is closed.

    Raises:
        OneServiceError: Not everything is installed here.
    """
    try:
        from services.serving.embedded import Embedded  # noqa: PLC0415

        return Embedded.open(settings)
    except ModuleNotFoundError as error:
        raise OneServiceError(
            f"this command opens the whole platform, and {error.name} is not installed here: the "
            "image of a service holds what that one needs; use the image `tools`"
        ) from error


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
