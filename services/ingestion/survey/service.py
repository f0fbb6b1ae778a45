"""What has come apart between pages, as others ask for it."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from services.contracts.ingestion import Decay
from services.ingestion.survey.decay import dead_links, lonely_names
from services.ingestion.survey.records import SurveyRecords
from services.kit.sql.database import Database
from services.knowledge.ports import DocumentStore


class SurveyService:
    """Reads what was looked at after each ingest, and looks at what is new."""

    def __init__(self, database: Database, documents: DocumentStore, survey: SurveyRecords) -> None:
        self._database = database
        self._documents = documents
        self._survey = survey

    def decay(self) -> list[Decay]:
        """See `Ingestion.decay`."""
        self._survey.catch_up(datetime.now(UTC))
        with self._database.session() as session:
            return [*dead_links(session), *lonely_names(session, self._texts)]

    def _texts(self, ids: Sequence[str]) -> Iterator[str]:
        return (each.text for each in self._documents.usable(ids).values())
