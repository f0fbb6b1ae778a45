"""The readings of a data folder that no platform runs on, without what makes vectors."""

from collections.abc import Iterator
from contextlib import contextmanager

from services.ingestion.catalogue.owners import Owners
from services.ingestion.jobs.ledger import Ledger
from services.ingestion.readings.service import ReadingsService
from services.ingestion.readings.upkeep import Upkeep
from services.ingestion.readings.waiting import Waiting
from services.kit.data_dir import own_data_dir
from services.kit.migrations import ROOMS
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.procedure.store.sql_readings import SqlReadingStore


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
            store = SqlReadingStore(database)
            upkeep = Upkeep.of(store, Ledger(database), SqlDocumentStore(database))
            yield ReadingsService(store, upkeep, Waiting(database, Owners(database)), who=who)
        finally:
            database.close()
