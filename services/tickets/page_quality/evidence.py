"""Evidence against lines of pages, and the search for these lines in the pages as they are now."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from services.contracts.coverage import FindingKind, PageFinding
from services.contracts.execution import FailedCommand
from services.contracts.ingestion import Decay, DecayKind
from services.language.words import tokenise

SHOWN = 10
"""Most tickets, runs and documents that are named in one finding."""
_AROUND = 3
"""Lines before and after the cited ones where a step may have moved by small edits."""
_LEAST_WORDS = 0.8
"""Share of a step's words that its lines must still have: steps leave out markup and small
words, and say conditions in an order of their own.
"""
_SPACES = re.compile(r"\s+")


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

    @classmethod
    def of_command(cls, failed: FailedCommand) -> Self:
        """Build the evidence of a command that runs could not carry out."""
        runs = f"{failed.times} runs" if failed.times > 1 else "a run"
        return cls(
            kind=FindingKind.COMMAND_FAILS,
            document_id=failed.document_id,
            start_line=failed.start_line,
            end_line=failed.end_line,
            text=failed.command,
            seen=f"not understood in {runs}, last by {failed.target}: “{failed.answer}”",
            times=failed.times,
            since=failed.first_at,
            last_at=failed.last_at,
            is_command=True,
            tickets=failed.tickets,
            runs=failed.runs,
        )

    @classmethod
    def of_decay(cls, decay: Decay) -> Self:
        """Build the evidence of a dead link, or of a name that other pages have no more."""
        is_link = decay.kind is DecayKind.LINK
        if is_link:
            seen = f"led to {decay.was[0]}, which is gone" if decay.was else "leads to no page"
            seen += f"; {decay.instead} may be meant" if decay.instead else ""
        else:
            seen = f"{decay.others} other pages named it, and none does any more"
            seen += ", nor does a ticket of late"
            seen += f"; they name {decay.instead} now" if decay.instead else ""
        return cls(
            kind=FindingKind.LINK_DEAD if is_link else FindingKind.NAME_GONE,
            document_id=decay.document_id,
            start_line=decay.line,
            end_line=decay.line,
            text=decay.said,
            seen=seen,
            times=max(1, decay.others),
            since=decay.since,
            last_at=decay.since,
            documents=decay.was,
        )

    @property
    def key(self) -> str:
        """Hash that is equal for the same evidence on the same text, wherever in the page it is."""
        identity = "\n".join((self.kind.value, self.refusal, self.document_id, self.text))
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    def locate(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Return where the page's lines still show it; None if they do not.

        A command is looked for in all lines, the nearest first; a step near the cited ones, which
        must have nearly all of its words.
        """
        if self.is_command:
            command = _collapse_spaces(self.text)
            matches = [n for n, line in enumerate(lines, 1) if command in _collapse_spaces(line)]
            if not command or not matches:
                return None
            nearest = min(matches, key=lambda number: abs(number - self.start_line))
            return nearest, nearest
        words = set(tokenise(self.text))
        around = lines[max(0, self.start_line - 1 - _AROUND) : self.end_line + _AROUND]
        if not words or not around:
            return None
        page_words = set(tokenise(" ".join(around)))
        if len(words & page_words) < _LEAST_WORDS * len(words):
            return None
        return min(self.start_line, len(lines)), min(self.end_line, len(lines))

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


def _collapse_spaces(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
