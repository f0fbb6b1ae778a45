"""Coverage: what on pages is stale by what was seen, and which alert rules pages treat."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol
from urllib.parse import quote

from pydantic import BeforeValidator, Field, StringConstraints

from services.kit.http.client import ServiceClient
from services.kit.text import visible_text
from services.kit.value import Value


class FindingKind(StrEnum):
    """What speaks against lines of a page."""

    COMMAND_FAILS = "command_fails"
    """A target did not understand the command, in runs."""
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
    dismissed_by: str = ""
    """Who said that it is all right; empty where nobody has."""
    why: str = ""
    """What they said."""


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


def _said(words: object) -> object:
    return visible_text(words).strip() if isinstance(words, str) else words


Reason = Annotated[str, BeforeValidator(_said), StringConstraints(min_length=1, max_length=500)]


class FindingDismissal(Value):
    """Somebody says that a finding is all right."""

    key: str = Field(max_length=40)
    why: Reason
    weeks: int = Field(default=12, ge=1, le=52)
    """Those that the finding was told of."""


MOST_RULES = 200


class AlertRule(Value):
    """An alert as the file of a rule declares it."""

    alert: str = Field(min_length=1, max_length=300)
    text: str = Field(default="", max_length=8_000)
    """What its annotations say, places to fill in left out."""
    labels: dict[str, str] = Field(default={}, max_length=100)
    runbook_url: str = Field(default="", max_length=2_000)


class RulesQuestion(Value):
    """Which alerts are asked about."""

    rules: tuple[AlertRule, ...] = Field(min_length=1, max_length=MOST_RULES)
    weeks: int = Field(default=12, ge=1, le=52)


class RuleState(StrEnum):
    """How surely a page treats an alert, the surest first."""

    LINKED = "linked"
    """Its link leads to a page that is known here."""
    FOUND = "found"
    """A ticket of it would get a page that surely fits."""
    NEAR = "near"
    """A ticket of it would get the closest page, not sure that it is the one."""
    NONE = "none"
    """A ticket of it would get nothing."""


class RuleCoverage(Value):
    """What is known of one alert."""

    alert: str
    state: RuleState
    document_id: str = ""
    """The page; empty where there is none."""
    is_link_dead: bool = False
    """Whether it names a page that is not known here."""
    tickets: int = 0
    """Of the last weeks, with its name."""


class RulesReport(Value):
    """By alert, in the order in which they were asked about."""

    rules: tuple[RuleCoverage, ...]
    tickets: int
    """All of these weeks: without any, that an alert never fired says nothing."""


class UnreachedPage(Value):
    """A page with a procedure that no ticket has come to."""

    document_id: str
    title: str
    owner: str


class Covering(Protocol):
    """What is covered, and what of it is stale."""

    def pages_to_mend(self, *, weeks: int, dismissed: bool = False) -> PagesToMend:
        """Of runs and tickets of the last weeks, and of pages as they are.

        With `dismissed` also what somebody said is all right.

        Raises:
            UnavailableError: Ingestion did not answer: without the pages nothing can be said.
        """

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """Tell a finding no more while the page has these words; who said so is the caller.

        Raises:
            NotFoundError: There is no such finding, or not any more.
            UnavailableError: Nobody could say whether there is.
        """

    def restore(self, key: str) -> None:
        """Take back that it is all right; nothing where nobody said so."""

    def of_rules(self, question: RulesQuestion) -> RulesReport:
        """Each alert with its page.

        Raises:
            UnavailableError: Retrieval or ingestion did not answer.
        """

    def unreached(self, *, weeks: int) -> list[UnreachedPage]:
        """Pages with a procedure that no ticket of the last weeks rests on, by id.

        Raises:
            UnavailableError: Ingestion did not answer.
        """


class CoverageClient:
    """`Covering` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def pages_to_mend(self, *, weeks: int, dismissed: bool = False) -> PagesToMend:
        """See `Covering.pages_to_mend`."""
        found = self._client.get("/v1/coverage/pages", weeks=weeks, dismissed=dismissed)
        return PagesToMend.model_validate(found)

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """See `Covering.dismiss`."""
        found = self._client.post("/v1/coverage/dismissals", dismissal)
        return PageFinding.model_validate(found)

    def restore(self, key: str) -> None:
        """See `Covering.restore`."""
        self._client.delete(f"/v1/coverage/dismissals/{quote(key, '')}")

    def of_rules(self, question: RulesQuestion) -> RulesReport:
        """See `Covering.of_rules`."""
        return RulesReport.model_validate(self._client.post("/v1/coverage/rules", question))

    def unreached(self, *, weeks: int) -> list[UnreachedPage]:
        """See `Covering.unreached`."""
        found = self._client.get("/v1/coverage/unreached", weeks=weeks)
        return [UnreachedPage.model_validate(each) for each in found]
