"""What people said of readings by rules, put to the boxes of their pages after an upgrade."""

from dataclasses import dataclass

import structlog

from services.ingestion.readings.texts import Texts
from services.kit.errors import UnavailableError
from services.knowledge.page.block import Page
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.withheld import withheld_lines
from services.knowledge.screening.document import screened, text_hash
from services.procedure.store.sql_retired import SqlRetiredReadings

_log = structlog.get_logger()


@dataclass(frozen=True)
class RulesRetirement:
    """Goes through the texts that rules had read and people had answered or corrected, once each.

    Texts that no document has wait: nobody is shown them.
    """

    store: SqlRetiredReadings
    texts: Texts

    def run(self) -> int:
        """Return how many texts were done; what breaks on one text is logged, and it waits."""
        done = 0
        for hashed in self.store.waiting():
            try:
                done += self._retire(hashed)
            except UnavailableError:
                raise
            except Exception:  # noqa: BLE001 - the entry point of one text
                _log.exception("ingestion.retirement_failed", text_hash=hashed)
        return done

    def _retire(self, hashed: str) -> bool:
        pages = self._pages(hashed)
        if not pages:
            return False
        found = self.store.retire(hashed, pages)
        _log.info(
            "ingestion.reading_by_rules_retired",
            documents=list(pages)[:5],
            boxes_corrected=found.boxes,
            left_over=found.left,
        )
        return True

    def _pages(self, hashed: str) -> dict[str, Page]:
        """Return the pages that have the text now, by document."""
        pages = {}
        for id_ in self.texts.named(hashed):
            document = self.texts.documents.get(id_)
            if document is not None and text_hash(document) == hashed:
                withheld = withheld_lines(document.text, screened(document).document.text)
                pages[id_] = parse_page(document.text, withheld=withheld)
        return pages
