"""Readings as JSON lines: an export, and an import as read or as approved by who imports."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.contracts.readings import ImportNote, ImportReport
from services.ingestion.readings.texts import TextIndex
from services.kit.errors import FlowXpertError, InvalidInputError, UnavailableError
from services.runbook.checking.approvals import kind_by_origin, least_kind
from services.runbook.checking.check import CheckedReading, UnusableReadingError, check_reading
from services.runbook.checking.doubts import without_ticket_doubts
from services.runbook.model import Reader, Reading, as_json
from services.runbook.ports import ApprovalKind, ReadingState, ReadingStore, ServedReading
from services.runbook.serving import is_covered

LONGEST_LINE = 4_000_000
"""Most bytes of one page's reading; the product's largest has some 60,000."""
MOST_ROWS = 200_000
_SHOWN_NOTES = 1_000

_log = structlog.get_logger()


class UnusableRowError(InvalidInputError):
    """The line of an import is no reading."""


class ReadingLine(BaseModel):
    """One line of an export."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    document: str = ""
    """Id of a document, for people; a page that moves keeps its readings."""
    state: ReadingState = ReadingState.READ
    """State of the reading: `approved` if each procedure is."""
    kind: ApprovalKind | None = None
    """Part that was approved of each procedure; None if a release before kinds wrote the line."""
    reading: Reading


def line_of(text_hash: str, document: str, served: ServedReading) -> str:
    """Return the served reading of a text as a line."""
    kind = least_kind(served.kind(at) for at in range(len(served.reading.procedures)))
    return json.dumps(
        {
            "text_hash": text_hash,
            "document": document,
            "state": (ReadingState.APPROVED if kind else ReadingState.READ).value,
            **({"kind": kind.value} if kind else {}),
            "reading": as_json(without_ticket_doubts(served.reading)),
        },
        ensure_ascii=False,
    )


def reading_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, ReadingLine | UnusableRowError]]:
    """Yield each line that is not blank with its number from 1; an unusable one as its error."""
    for number, line in enumerate(lines, start=1):
        if number > MOST_ROWS:
            yield number, UnusableRowError(f"expected at most {MOST_ROWS} lines: send the rest")
            return
        if line.strip():
            yield number, _row(line)


def _row(line: bytes) -> ReadingLine | UnusableRowError:
    if len(line) > LONGEST_LINE:
        return UnusableRowError(f"the line is longer than {LONGEST_LINE} bytes")
    try:
        row = ReadingLine.model_validate(json.loads(line.decode("utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return UnusableRowError(f"{place}: {first['msg']}"[:500])
    except (ValueError, RecursionError) as error:
        return UnusableRowError(f"it is no JSON object: {type(error).__name__}")
    if row.reading.reader is Reader.RULES and row.state is ReadingState.READ:
        page = row.document or row.text_hash
        return UnusableRowError(
            f"{page}: rules read it and nobody checked it: the page is shown as it is"
        )
    return row.model_copy(
        update={"reading": row.reading.model_copy(update={"reader": Reader.IMPORTED})}
    )


@dataclass
class ReadingImport:
    """One import; it reaches the end of the lines whatever they contain."""

    store: ReadingStore
    texts: TextIndex
    who: str
    approve: bool
    refused: list[ImportNote] = field(default_factory=list)
    marked: list[ImportNote] = field(default_factory=list)
    taken: int = 0
    approved: int = 0
    empty: int = 0

    def run(self, lines: Iterable[bytes]) -> ImportReport:
        """Import what can be used.

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
                self._import_row(number, row, by_hash.get(row.text_hash, ""))
        return ImportReport(
            rows=count,
            taken=self.taken,
            approved=self.approved,
            without_procedure=self.empty,
            marked=tuple(self.marked[:_SHOWN_NOTES]),
            refused=tuple(self.refused[:_SHOWN_NOTES]),
        )

    def _import_row(self, number: int, row: ReadingLine, document_id: str) -> None:
        note = ImportNote(
            row=number, text_hash=row.text_hash, document=document_id or row.document, reason=""
        )
        try:
            remarks = self._store(row, document_id)
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

    def _store(self, row: ReadingLine, document_id: str) -> list[str]:
        """Store one reading; return remarks on what was not as it should be.

        Raises:
            UnusableReadingError: No document has the text, or nothing is of it.
        """
        text = self.texts.text(row.text_hash) if document_id else None
        if text is None:
            raise UnusableReadingError("no ingested document has this text: it is of another one")
        checked_reading = check_reading(row.reading, text)
        detail = "; ".join(checked_reading.remarks)[:500]
        self.store.put(row.text_hash, checked_reading.reading, who=self.who, detail=detail)
        self.taken += 1
        self.empty += not checked_reading.reading.procedures
        if self.approve:
            return [*checked_reading.remarks, *self._approve(row, checked_reading)]
        if row.state is ReadingState.APPROVED:
            return [*checked_reading.remarks, "it is said to be approved: taken as read"]
        return checked_reading.remarks

    def _approve(self, row: ReadingLine, checked_reading: CheckedReading) -> list[str]:
        """Approve what the import brought; return remarks on what was not approved.

        A reading that was cut is not what somebody has checked, and existing approvals stay.
        """
        text_hash = row.text_hash
        if checked_reading.remarks:
            return ["not approved, since it is not whole"]
        mine = checked_reading.reading.procedures
        approved = self.store.approved(text_hash)
        before = [each.procedure for each in approved]
        new = [each for each in mine if not is_covered(each, before)]
        kept = [each for each in mine if each not in before and each not in new]
        for kind in ApprovalKind:
            less = [each.procedure for each in approved if not each.approval.kind.includes(kind)]
            open_ = (each for each in mine if each in new or each in less)
            if own := [each for each in open_ if (row.kind or kind_by_origin(each)) is kind]:
                self.store.approve(text_hash, own, who=self.who, kind=kind)
                self.approved += len(own)
        return [f"{each.title!r} is approved here already: offered" for each in kept]
