"""What was seen of lines of pages, before it is known whether the pages still say it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from services.contracts.coverage import FindingKind, PageFinding

SHOWN = 10
"""Tickets, runs and documents that are named of one finding."""


@dataclass(frozen=True)
class Evidence:
    """Of one page; the lines are those of the page as it was then."""

    kind: FindingKind
    document_id: str
    start_line: int
    end_line: int
    said: str
    seen: str
    times: int
    since: datetime
    last_at: datetime
    is_command: bool = False
    """Whether `said` stands in the page word for word."""
    refusal: str = ""
    """How people refused a step: each way is a finding of its own."""
    tickets: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same seen of the same words of a page, wherever in it they stand."""
        told = "\n".join((self.kind.value, self.refusal, self.document_id, self.said))
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def at(self, lines: tuple[int, int]) -> PageFinding:
        """The finding, at lines of the page as it is now."""
        return PageFinding(
            key=self.key,
            kind=self.kind,
            document_id=self.document_id,
            start_line=lines[0],
            end_line=lines[1],
            said=self.said,
            seen=self.seen,
            times=self.times,
            since=self.since,
            last_at=self.last_at,
            tickets=self.tickets[:SHOWN],
            runs=self.runs[:SHOWN],
            documents=self.documents[:SHOWN],
        )
