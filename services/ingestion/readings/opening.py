"""The readings of a data folder that no platform runs on, without what makes vectors."""

from collections.abc import Iterator
from contextlib import contextmanager

from services.ingestion.readings.ingested import IngestedReadings
from services.ingestion.readings.service import ReadingsService
from services.kit.data_dir import own_data_dir
from services.kit.migrations import ROOMS
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.stores.sql_documents import SqlDocumentStore


@contextmanager
def open_readings_here(settings: PlatformSettings, *, who: str) -> Iterator[ReadingsService]:
    """Own the folder until the block ends.

    Raises:
        DataDirInUseError: A platform runs on it: ask that one.
    """
    with own_data_dir(settings.data_dir.resolve()):
        database = Database(settings.resolved_database_url)
        try:
            database.migrate(*ROOMS)
            readings = IngestedReadings(database, SqlDocumentStore(database))
            readings.retire_rules()
            yield readings.readings(who)
        finally:
            database.close()
