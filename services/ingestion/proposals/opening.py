"""The proposed pages of a data folder that no platform runs on."""

from collections.abc import Iterator
from contextlib import contextmanager

from services.ingestion.proposals.service import ProposalService
from services.ingestion.settings import IngestionSettings
from services.kit.data_dir import own_data_dir
from services.kit.migrations import ROOMS
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database


@contextmanager
def open_proposals_here(settings: PlatformSettings) -> Iterator[ProposalService]:
    """Own the folder until the block ends; the documents follow when a platform runs on it next.

    Raises:
        DataDirInUseError: A platform runs on it: ask that one.
    """
    with own_data_dir(settings.data_dir.resolve()):
        database = Database(settings.resolved_database_url)
        try:
            database.migrate(*ROOMS)
            yield ProposalService(database, Outbox(database), IngestionSettings())
        finally:
            database.close()
