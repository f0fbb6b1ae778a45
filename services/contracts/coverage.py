"""Coverage: stale lines of pages, and alert rules that pages treat."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BeforeValidator, Field, StringConstraints

from services.contracts.client import ContractClient, route
from services.contracts.readings import PageUse
from services.kit.text import visible_text
from services.kit.value import Value


class FindingKind(StrEnum):
    """Kind of evidence against lines of a page."""

    COMMAND_FAILS = "command_fails"
    """Runs show that a target did not understand the command."""
    STEP_REFUSED = "step_refused"
    """Engineers rejected, reworded or skipped the step while working on tickets."""
    LINK_DEAD = "link_dead"
    """The page links to one that does not exist."""
    NAME_GONE = "name_gone"
    """The page names something that other pages once named and nothing else names any more."""


class PageFinding(Value):
    """Evidence against lines of a page, as they are now."""

    key: str
    """Key of the finding: the same lines with the same evidence have the same key."""
    kind: FindingKind
    document_id: str
    start_line: int
    end_line: int
    said: str
    """Text of the lines in question: the command, the step, the link, the name."""
    seen: str
    """The evidence, in a sentence."""
    times: int
    """Number of runs, tickets or pages that showed it."""
    since: datetime
    last_at: datetime
    tickets: tuple[str, ...] = ()
    """Ids, the latest first; 10 at most."""
    runs: tuple[str, ...] = ()
    """Ids of runs, the latest first; 10 at most."""
    documents: tuple[str, ...] = ()
    """Ids of other pages that the finding rests on; 10 at most."""
    dismissed_by: str = ""
    """Person who dismissed the finding; empty if nobody has."""
    why: str = ""
    """Reason for the dismissal."""


class PageToMend(Value):
    """A page with all its findings."""

    document_id: str
    title: str
    owner: str
    """The team that owns the page; empty if none was named."""
    findings: tuple[PageFinding, ...]
    """Findings in the order of their lines."""


class PagesToMend(Value):
    """Stale pages, those with the most findings first."""

    weeks: int
    """Number of weeks of runs and tickets that were searched."""
    pages: tuple[PageToMend, ...]
    without: tuple[str, ...] = ()
    """Services that did not answer, so that their evidence is missing."""


Reason = Annotated[
    str,
    BeforeValidator(lambda text: visible_text(text).strip() if isinstance(text, str) else text),
    StringConstraints(min_length=1, max_length=500),
]


class FindingDismissal(Value):
    """Request to dismiss a finding as harmless."""

    key: str = Field(max_length=40)
    why: Reason
    weeks: int = Field(default=12, ge=1, le=52)
    """Number of weeks that the finding was reported for."""


MOST_RULES = 200


class AlertRule(Value):
    """An alert as the file of a rule declares it."""

    alert: str = Field(min_length=1, max_length=300)
    text: str = Field(default="", max_length=8_000)
    """Text of the annotations, without template placeholders."""
    labels: dict[str, str] = Field(default={}, max_length=100)
    runbook_url: str = Field(default="", max_length=2_000)


class RulesQuestion(Value):
    """Alert rules to check."""

    rules: tuple[AlertRule, ...] = Field(min_length=1, max_length=MOST_RULES)
    weeks: int = Field(default=12, ge=1, le=52)


class RuleState(StrEnum):
    """Confidence that a page treats an alert, the highest first."""

    LINKED = "linked"
    """The rule links to an ingested page."""
    SURE = "found"
    """A ticket for the alert would get a page that surely fits."""
    NEAR = "near"
    """A ticket for the alert would get the closest page, not sure to be the right one."""
    NONE = "none"
    """A ticket for the alert would get nothing."""


class RuleCoverage(Value):
    """Coverage of one alert rule."""

    alert: str
    state: RuleState
    document_id: str = ""
    """Id of the page; empty if there is none."""
    is_link_dead: bool = False
    """True if the rule links to a page that is not ingested."""
    tickets: int = 0
    """Number of tickets with the alert's name in the last weeks."""


class RulesReport(Value):
    """Coverage by alert, in the order of the question."""

    rules: tuple[RuleCoverage, ...]
    tickets: int
    """Number of all tickets of these weeks; if it is 0, an alert that never fired means nothing."""


class UnreachedPage(Value):
    """A page with a procedure that no ticket was answered with."""

    document_id: str
    title: str
    owner: str


class PageUses(Value):
    """Part that pages had in the tickets of the last days."""

    days: int
    tickets: int
    """Number of tickets whose walk is over."""
    pages: dict[str, PageUse]
    """Counts by document id."""
    leading: tuple[str, ...]
    """Confirmed pages that answer 80 of 100 tickets, or all there are if they answer fewer; the
    one with most tickets first. A page is confirmed if an engineer chose it for a ticket, accepted
    its workflow, or resolved a ticket by its steps.
    """
    answered: int
    """Number of tickets that show a workflow of a leading page."""
    near: int
    """Number of further tickets that show, or came near, pages that nobody has confirmed."""


class CoverageReports(Protocol):
    """Reports on pages that are stale and alerts that no page treats."""

    def pages_to_mend(self, *, weeks: int, dismissed: bool = False) -> PagesToMend:
        """List stale pages, by runs and tickets of the last weeks and by the pages themselves.

        With `dismissed`, dismissed findings are included.

        Raises:
            UnavailableError: Ingestion did not answer: without the pages nothing can be said.
        """

    def page_uses(self, *, days: int) -> PageUses:
        """Count the tickets that each page answered or came near to."""

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """Dismiss a finding in the caller's name, for as long as the page keeps these words.

        Raises:
            NotFoundError: There is no such finding, or not any more.
            UnavailableError: Nobody could say whether there is.
        """

    def restore(self, key: str) -> None:
        """Undo a dismissal; nothing happens if there is none."""

    def of_rules(self, question: RulesQuestion) -> RulesReport:
        """Return the coverage of each alert rule.

        Raises:
            UnavailableError: Retrieval or ingestion did not answer.
        """

    def unreached(self, *, weeks: int) -> list[UnreachedPage]:
        """List pages with a procedure that no ticket of the last weeks rests on, by id.

        Raises:
            UnavailableError: Ingestion did not answer.
        """


class CoverageClient(ContractClient):
    """`CoverageReports` in another process, over HTTP."""

    pages_to_mend = route(CoverageReports.pages_to_mend, "GET", "/v1/coverage/pages")
    page_uses = route(CoverageReports.page_uses, "GET", "/v1/coverage/uses")
    dismiss = route(CoverageReports.dismiss, "POST", "/v1/coverage/dismissals")
    restore = route(CoverageReports.restore, "DELETE", "/v1/coverage/dismissals/{key}")
    of_rules = route(CoverageReports.of_rules, "POST", "/v1/coverage/rules")
    unreached = route(CoverageReports.unreached, "GET", "/v1/coverage/unreached")
