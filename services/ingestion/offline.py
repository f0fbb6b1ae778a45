"""Access to readings and proposals of a data folder that no platform runs on, without embedders."""

from collections.abc import Iterator
from contextlib import contextmanager

from services.ingestion.proposals.service import ProposalService
from services.ingestion.readings.ingested import IngestedReadings
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.readings.service import ReadingsService
from services.ingestion.settings import IngestionSettings
from services.kit.data_dir import own_data_dir
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.stores.sql_documents import SqlDocumentStore


@contextmanager
def open_readings_here(settings: PlatformSettings, *, who: str) -> Iterator[ReadingsService]:
    """Own the folder until the block ends.

    Raises:
        DataDirInUseError: A platform runs on it: ask that one.
    """
    with _own_database(settings) as database:
        maintenance = ReadingMaintenance.of(database, SqlDocumentStore(database))
        yield IngestedReadings(database, maintenance).readings(who)


@contextmanager
def open_proposals_here(settings: PlatformSettings) -> Iterator[ProposalService]:
    """Own the folder until the block ends; the next platform on it ingests the pages.

    Raises:
        DataDirInUseError: A platform runs on it: ask that one.
    """
    with _own_database(settings) as database:
        yield ProposalService(database, Outbox(database), IngestionSettings())


@contextmanager
def _own_database(settings: PlatformSettings) -> Iterator[Database]:
    with own_data_dir(settings.data_dir):
        database = Database(settings.resolved_database_url)
        try:
            database.migrate(*ROOMS)
            yield database
        finally:
            database.close()
