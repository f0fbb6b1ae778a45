"""Coverage: what on pages is stale by what was seen, and which alert rules pages treat."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from services.kit.http.client import ServiceClient
from services.kit.value import Value


class FindingKind(StrEnum):
    """What speaks against lines of a page."""

    COMMAND_FAILS = "command_fails"
    """A target did not understand the command, or never answered it, in runs."""
    STEP_REFUSED = "step_refused"
    """People rejected, reworded or skipped the step while they worked on tickets."""
    LINK_DEAD = "link_dead"
    """The page links to one that is not there."""
    NAME_GONE = "name_gone"
    """It names something that other pages named once, and that nothing else names any more."""


class PageFinding(Value):
    """One thing that was seen of lines of a page, as they stand now."""

    key: str
    """Names it: the same lines with the same evidence have the same."""
    kind: FindingKind
    document_id: str
    start_line: int
    end_line: int
    said: str
    """What the lines say: the command, the step, the link, the name."""
    seen: str
    """What was seen, in a sentence."""
    times: int
    """Runs, tickets or pages that showed it."""
    since: datetime
    last_at: datetime
    tickets: tuple[str, ...] = ()
    """Ids, the latest first; 10 at most."""
    runs: tuple[str, ...] = ()
    """Likewise."""
    documents: tuple[str, ...] = ()
    """Other pages that it rests on; likewise."""


class PageToMend(Value):
    """A page with all that was found."""

    document_id: str
    title: str
    owner: str
    """The team that looks after it; empty where none was named."""
    findings: tuple[PageFinding, ...]
    """In the order of their lines."""


class PagesToMend(Value):
    """What is stale, the pages with the most findings first."""

    weeks: int
    """How far back runs and tickets were looked at."""
    pages: tuple[PageToMend, ...]
    without: tuple[str, ...] = ()
    """Services that did not answer: what they know is missing."""


class Mending(Protocol):
    """Pages that are stale by evidence."""

    def pages_to_mend(self, *, weeks: int) -> PagesToMend:
        """Of runs and tickets of the last weeks, and of pages as they are."""


class MendingClient:
    """`Mending` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def pages_to_mend(self, *, weeks: int) -> PagesToMend:
        """See `Mending.pages_to_mend`."""
        found = self._client.get("/v1/coverage/pages", weeks=weeks)
        return PagesToMend.model_validate(found)
