"""What the rules read on the cited pages, to hold candidates against."""

from collections.abc import Mapping
from functools import lru_cache

from services.procedure.choose import ranked_procedures
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.page_lines import CitedPages
from services.procedure.lowering import lower
from services.procedure.model import Reader, Reading
from services.procedure.rules import read_by_rules
from services.workflow.model import Workflow

_REMEMBERED = 256


class RuleReadings:
    """The rules' readings of the pages of one ticket, each lowered once."""

    def __init__(self, texts: Mapping[str, str], ticket_text: str) -> None:
        """`texts` by document id."""
        self.source = CitedPages(texts)
        self._texts = texts
        self._ticket = ticket_text
        self._drawn: dict[str, Drawn | None] = {}

    def beside(self, drawn: Drawn) -> Drawn | None:
        """The reading of the page that most steps cite.

        None where there is none, and where the candidate is that reading: agreeing with itself is
        no evidence.
        """
        page = drawn.page
        if not page or is_of_rules(drawn.workflow):
            return None
        if page not in self._drawn:
            self._drawn[page] = self._read(page)
        return self._drawn[page]

    def _read(self, document_id: str) -> Drawn | None:
        reading = _by_rules(self._texts[document_id])
        ranked = ranked_procedures(reading, self._ticket)
        if not ranked:
            return None
        return Drawn(lower(reading.procedures[ranked[0][0]], document_id), self.source)


def is_of_rules(workflow: Workflow) -> bool:
    """Whether the workflow is what the rules read."""
    return bool(workflow.provenance and workflow.provenance.reader == Reader.RULES.value)


@lru_cache(maxsize=_REMEMBERED)
def _by_rules(text: str) -> Reading:
    return read_by_rules(text)
