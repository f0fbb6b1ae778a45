"""Parts that ingestion's jobs and passes work with, built once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.catalogue.roots import Roots
from services.ingestion.jobs.records import JobRecords
from services.ingestion.jobs.stores import DocumentStores
from services.ingestion.pictures.store import PictureUpkeep
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.roots.scan import RootScan
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline
from services.ingestion.survey.records import SurveyRecords
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database


class AcceptedRoot(Protocol):
    """Proposed pages that were accepted, as a root of documents."""

    def scan(self) -> RootScan:
        """Scan the pages accepted by now; their readings are approved."""

    def forget_left(self) -> None:
        """Forget what was approved of pages that the stores no longer have."""


@dataclass(frozen=True)
class JobParts:
    """Stores, records and settings that jobs and passes share."""

    database: Database
    ledger: Ledger
    jobs: JobRecords
    roots: Roots
    stores: DocumentStores
    structure: Pipeline
    """Pipeline that finds nodes by the documents' own structure alone."""
    pipeline: Pipeline
    """Pipeline that joins these nodes with the ones that a model built."""
    maintenance: ReadingMaintenance
    pictures: PictureUpkeep
    survey: SurveyRecords
    accepted_pages: AcceptedRoot
    outbox: Outbox
    settings: IngestionSettings
    locks: Path
    """Folder of lock files."""
    notifies_syncs: bool = False
    """True if syncs that failed or lost approvals are reported."""
