"""A page read alone: its text and a ticket in, the workflow of its procedure out.

All that the benchmarks need of the library of procedures is imported here.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from services.contracts.retrieval import PageReading
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument
from services.retrieval.pages import NoReadings, Pages
from services.runbook.choose import ranked_procedures
from services.runbook.lowering import lower
from services.runbook.model import Reading
from services.runbook.ports import ReadingSource
from services.runbook.store.sql_readings import SqlReadingStore
from services.workflow.model import Workflow

if TYPE_CHECKING:
    from services.deployment.embedded import Embedded

Read = Callable[[Document], Reading | None]
"""What a reader makes of a page; None where it has not read it."""
ReadPages = Callable[[Mapping[str, float]], tuple[PageReading, ...]]
"""The readings of documents, each given with its relevance."""


def unread(_document: Document) -> Reading | None:
    """Nobody has read it."""
    return None


def readings_of(platform: "Embedded") -> ReadingSource:
    """Where the platform keeps what was read before."""
    return SqlReadingStore(platform.database)


def pages_of(platform: "Embedded") -> ReadPages:
    """The readings of the platform's documents, as retrieval hands them out."""
    return Pages(platform.documents, readings_of(platform), NoReadings()).of


def stored(readings: ReadingSource) -> Read:
    """The best reading that is kept of the text as it stands."""

    def find(document: Document) -> Reading | None:
        key = ScreenedDocument(document).text_hash
        served = readings.served_many([key]).get(key)
        return served.reading if served else None

    return find


def workflow_of(reading: Reading, document_id: str, ticket_text: str) -> Workflow | None:
    """The workflow for a ticket; None where the page tells no procedure."""
    ranked = ranked_procedures(reading.procedures, ticket_text)
    if not ranked:
        return None
    place = ranked[0][0]
    doubts = {d.node: d.question for d in reading.doubts if d.procedure == place}
    return lower(reading.procedures[place], document_id, doubts)
