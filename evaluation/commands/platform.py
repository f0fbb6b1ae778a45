"""The embedded run that a benchmark measures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.embedded import Embedded
    from services.kit.settings import PlatformSettings


@contextmanager
def open_platform(data_dir: Path) -> "Iterator[Embedded]":
    """The embedded run in this folder.

    Raises:
        InvalidInputError: Nothing is ingested there.
    """
    from services.embedded import Embedded  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    with Embedded.open(settings_of(data_dir)) as platform:
        if not platform.documents.hashes():
            raise InvalidInputError(f"nothing is ingested in {str(data_dir)!r}: `flowxpert ingest`")
        yield platform


def settings_of(data_dir: Path) -> "PlatformSettings":
    """The platform's settings; what is logged from now on goes where they say."""
    from services.kit.logging import configure_logging  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415

    settings = PlatformSettings(data_dir=data_dir)
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    return settings
