"""The embedded run that a benchmark measures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded
    from services.kit.settings import PlatformSettings
    from services.knowledge.ports import Embedder


@contextmanager
def open_platform(data_dir: Path) -> "Iterator[Embedded]":
    """The embedded run in this folder.

    Raises:
        InvalidInputError: Nothing is ingested there.
    """
    from services.deployment.embedded import Embedded  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    with Embedded(settings_of(data_dir)) as platform:
        if not platform.documents.hashes():
            raise InvalidInputError(f"nothing is ingested in {str(data_dir)!r}: `flowxpert ingest`")
        yield platform


def embedder_of(platform: "Embedded | None") -> "Embedder":
    """The platform's, or the one of the settings where no platform is open."""
    if platform:
        return platform.embedder
    from services.knowledge.embedding.embedders import CachedEmbedder  # noqa: PLC0415
    from services.room.open_stores import open_embedder  # noqa: PLC0415

    settings = settings_of(None)
    embedder = open_embedder(settings)
    cache = settings.embedding_cache
    return CachedEmbedder(embedder, cache) if cache else embedder


def settings_of(data_dir: Path | None) -> "PlatformSettings":
    """The platform's settings; what is logged from now on goes where they say."""
    from services.kit.observability.logging import configure_logging  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415

    settings = PlatformSettings(data_dir=data_dir) if data_dir else PlatformSettings()
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    return settings
