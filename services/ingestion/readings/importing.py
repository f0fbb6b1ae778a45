"""Readings made elsewhere, taken in: as read, or as approved by whoever imports them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import structlog

from services.contracts.readings import ImportNote, ImportReport
from services.ingestion.readings.json_lines import ReadingLine, UnusableRowError, reading_lines
from services.ingestion.readings.texts import Texts
from services.kit.errors import FlowXpertError, UnavailableError
from services.procedure.checking.check import Checked, UnusableReadingError, checked
from services.procedure.ports import ReadingState, ReadingStore
from services.procedure.serving import is_covered

_SHOWN_NOTES = 1_000

_log = structlog.get_logger()


@dataclass
class Import:
    """One import; it ends whatever the lines hold."""

    store: ReadingStore
    texts: Texts
    who: str
    approve: bool
    refused: list[ImportNote] = field(default_factory=list)
    marked: list[ImportNote] = field(default_factory=list)
    taken: int = 0
    approved: int = 0
    empty: int = 0

    def run(self, lines: Iterable[bytes]) -> ImportReport:
        """Take in what can be used.

        Raises:
            UnavailableError: The store did not answer; import the same again.
        """
        count = 0
        by_hash = {hashed: id_ for id_, hashed in self.texts.hashes().items()}
        for number, row in reading_lines(lines):
            count += 1
            if isinstance(row, UnusableRowError):
                self.refused.append(ImportNote(row=number, reason=str(row)))
            else:
                self._take(number, row, by_hash.get(row.text_hash, ""))
        return ImportReport(
            rows=count,
            taken=self.taken,
            approved=self.approved,
            without_procedure=self.empty,
            marked=tuple(self.marked[:_SHOWN_NOTES]),
            refused=tuple(self.refused[:_SHOWN_NOTES]),
        )

    def _take(self, number: int, row: ReadingLine, document_id: str) -> None:
        note = ImportNote(
            row=number, text_hash=row.text_hash, document=document_id or row.document, reason=""
        )
        try:
            remarks = self._taken(row, document_id)
        except UnavailableError:
            raise
        except FlowXpertError as error:
            self.refused.append(note.model_copy(update={"reason": str(error)[:500]}))
        except (LookupError, RecursionError, TypeError, ValueError) as error:
            # A row of the right shape that the check trips over is refused, not the others.
            _log.exception("ingestion.import_failed", row=number, text_hash=row.text_hash)
            reason = f"it cannot be used: {type(error).__name__}"
            self.refused.append(note.model_copy(update={"reason": reason}))
        else:
            if remarks:
                self.marked.append(note.model_copy(update={"reason": "; ".join(remarks)[:500]}))

    def _taken(self, row: ReadingLine, document_id: str) -> list[str]:
        """What was not as it should be.

        Raises:
            UnusableReadingError: No document has the text, or nothing is of it.
        """
        text = self.texts.text(row.text_hash) if document_id else None
        if text is None:
            raise UnusableReadingError("no ingested document has this text: it is of another one")
        found = checked(row.reading, text)
        detail = "; ".join(found.remarks)[:500]
        self.store.put(row.text_hash, found.reading, who=self.who, detail=detail)
        self.taken += 1
        self.empty += not found.reading.procedures
        if self.approve:
            return [*found.remarks, *self._approved(row.text_hash, found)]
        if row.state is ReadingState.APPROVED:
            return [*found.remarks, "it is said to be approved: taken as read"]
        return found.remarks

    def _approved(self, text_hash: str, found: Checked) -> list[str]:
        """Approve what the import brought, and tell what was not.

        What was cut is not what somebody has checked, and what is approved here stays.
        """
        if found.remarks:
            return ["not approved, since it is not whole"]
        mine = found.reading.procedures
        before = [each.procedure for each in self.store.approved(text_hash)]
        new = [each for each in mine if not is_covered(each, before)]
        kept = [each for each in mine if each not in before and each not in new]
        if new:
            self.store.approve(text_hash, new, who=self.who)
            self.approved += len(new)
        return [f"{each.title!r} is approved here already: offered" for each in kept]
