"""Options that commands share, and their access to settings, data folder and platform."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from services.kit.errors import FlowXpertError

if TYPE_CHECKING:
    from pydantic import BaseModel, SecretStr

    from services.deployment.embedded import Embedded
    from services.kit.http.client import ServiceClient
    from services.kit.settings import PlatformSettings
    from services.kit.sql.database import Database

DEFAULT_URL = "http://127.0.0.1:8080"

DataDir = Annotated[
    Path | None, typer.Option(help="Folder that keeps everything; FLOWXPERT_DATA_DIR.")
]
Host = Annotated[str | None, typer.Option(help="Address to listen on; FLOWXPERT_HOST.")]
Port = Annotated[int | None, typer.Option(help="Port, 0 for a free one; FLOWXPERT_PORT.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Url = Annotated[str, typer.Option(help="Where FlowXpert answers.")]
Platform = Annotated[
    str | None, typer.Option("--url", help="Where FlowXpert answers; FLOWXPERT_URL.")
]

Resource = TypeVar("Resource")

ANSWER_WITHIN_S = 70
"""Longest time a command waits for a running platform: a walk takes up to a minute."""


class OneServiceError(FlowXpertError):
    """The image of one service cannot open all of them."""


def read_settings(**options: object) -> "PlatformSettings":
    """Read the settings, options before variables; report unknown variables."""
    from services.deployment.rooms import SETTINGS  # noqa: PLC0415
    from services.kit.observability.logging import configure_logging  # noqa: PLC0415
    from services.kit.settings import PlatformSettings, report_unknown  # noqa: PLC0415

    chosen: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    settings = PlatformSettings(**chosen)
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    report_unknown(SETTINGS)
    return settings


def open_platform(settings: "PlatformSettings") -> "Embedded":
    """Open the whole platform in this process; it owns the data folder until closed.

    Raises:
        OneServiceError: Not everything is installed here.
    """
    try:
        from services.deployment.embedded import Embedded  # noqa: PLC0415

        return Embedded(settings)
    except ModuleNotFoundError as error:
        raise OneServiceError(
            f"this command opens the whole platform, and {error.name} is not installed here: the "
            "image of a service holds what that one needs; use the image `tools`"
        ) from error


@contextmanager
def open_local_or_remote(
    data_dir: Path | None,
    url: str | None,
    open_local: Callable[["PlatformSettings"], AbstractContextManager[Resource]],
    connect: Callable[["ServiceClient"], Resource],
    *,
    within_s: float = ANSWER_WITHIN_S,
) -> Iterator[Resource]:
    """Yield what `open_local` opens of the folder, or `connect` of the platform on it.

    A platform that `url` or FLOWXPERT_URL names is asked before the folder is looked at.

    Raises:
        DataDirInUseError: A process owns the folder that does not say where it answers.
    """
    from services.contracts.addresses import AddressSettings  # noqa: PLC0415
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415
    from services.kit.data_dir import DataDirInUseError  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    address = url or AddressSettings().url
    with ExitStack() as opened:
        if not address:
            try:
                resource = opened.enter_context(open_local(settings))
            except DataDirInUseError as error:
                if not error.url:
                    raise DataDirInUseError(
                        settings.data_dir,
                        "a process that does not say where it answers (--url does)",
                    ) from error
                address = error.url
            else:
                opened.enter_context(acting_as(LOCAL))
                yield resource
                return
        yield connect(opened.enter_context(client_of(address, within_s=within_s)))


def client_of(url: str, *, within_s: float = ANSWER_WITHIN_S) -> "ServiceClient":
    """Return a client of a running platform, with the key or token of the settings."""
    from services.kit.http.client import ServiceClient  # noqa: PLC0415

    return ServiceClient(url, api_key=key_of_settings(), timeout_s=within_s)


def key_of_settings() -> "SecretStr | None":
    """Return the credential that commands show to a running platform."""
    from services.contracts.addresses import AddressSettings  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415

    return AddressSettings().token or PlatformSettings().api_key


@contextmanager
def open_database(settings: "PlatformSettings") -> Iterator["Database"]:
    """Open the database, beside whatever process runs on it."""
    from services.kit.data_dir import make_data_dir  # noqa: PLC0415
    from services.kit.migrations import ROOMS  # noqa: PLC0415
    from services.kit.sql.database import Database  # noqa: PLC0415

    make_data_dir(settings.data_dir)
    database = Database(settings.resolved_database_url)
    try:
        database.migrate(*ROOMS)
        yield database
    finally:
        database.close()


def say(markup: str) -> None:
    """Print a message for people on stderr."""
    from services.cli.terminal import errors  # noqa: PLC0415

    errors.print(markup)


def print_json(message: "BaseModel") -> None:
    """Print a result for programs."""
    typer.echo(message.model_dump_json(indent=2))
