"""Evidence against lines of pages, before it is known whether the pages still have them."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from services.contracts.coverage import FindingKind, PageFinding

SHOWN = 10
"""Most tickets, runs and documents that are named in one finding."""


@dataclass(frozen=True)
class PageEvidence:
    """Evidence against lines of one page, numbered as the page was then."""

    kind: FindingKind
    document_id: str
    start_line: int
    end_line: int
    text: str
    seen: str
    times: int
    since: datetime
    last_at: datetime
    is_command: bool = False
    """True if `text` is in the page word for word."""
    refusal: str = ""
    """Way in which people refused a step; each is a finding of its own."""
    tickets: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Hash that is equal for the same evidence on the same text, wherever in the page it is."""
        identity = "\n".join((self.kind.value, self.refusal, self.document_id, self.text))
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    def to_finding(self, lines: tuple[int, int]) -> PageFinding:
        """Return the finding, at lines of the page as it is now."""
        return PageFinding(
            key=self.key,
            kind=self.kind,
            document_id=self.document_id,
            start_line=lines[0],
            end_line=lines[1],
            said=self.text,
            seen=self.seen,
            times=self.times,
            since=self.since,
            last_at=self.last_at,
            tickets=self.tickets[:SHOWN],
            runs=self.runs[:SHOWN],
            documents=self.documents[:SHOWN],
        )
