"""Coverage service: pages to mend, alert rules, and pages that no ticket reaches."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from urllib.parse import unquote, urlsplit

from sqlalchemy import Text, cast, func, or_, select
from sqlalchemy.orm import Session

from services.contracts.coverage import (
    AlertRule,
    FindingDismissal,
    PageFinding,
    PagesToMend,
    PageToMend,
    PageUses,
    RuleCoverage,
    RulesQuestion,
    RulesReport,
    RuleState,
    UnreachedPage,
)
from services.contracts.execution import Execution
from services.contracts.ingestion import DecayKind, Ingestion
from services.contracts.retrieval import Retrieval, RetrieveRequest
from services.contracts.ticket import Fit
from services.kit.errors import ConflictError, NotFoundError, UnavailableError
from services.kit.ids import first_id_at
from services.kit.sql.database import Database
from services.knowledge.model import KnowledgeContext
from services.tickets.page_quality.dismissals import Dismissals
from services.tickets.page_quality.documents import all_documents, require_ingestion
from services.tickets.page_quality.evidence import PageEvidence
from services.tickets.page_quality.page_uses import count_page_uses
from services.tickets.page_quality.queries import WEEK_S
from services.tickets.page_quality.refused_steps import refused_steps
from services.tickets.page_texts import PageTexts
from services.tickets.tables import CitationRow, TicketRow

MOST_PAGES = 500

FitOf = Callable[[KnowledgeContext], Fit | None]
"""Function from retrieved knowledge to how surely it treats a ticket."""

_STATES = {Fit.SURE: RuleState.SURE, Fit.UNSURE: RuleState.NEAR}


class NoFindingError(NotFoundError):
    """No finding has this key."""


class CoverageService:
    """Implementation of `contracts.coverage.CoverageReports`."""

    def __init__(
        self,
        database: Database,
        *,
        retrieval: Retrieval,
        ingestion: Ingestion | None,
        execution: Callable[[], Execution | None],
        fit_of: FitOf,
    ) -> None:
        """Call `execution` only when it is needed: the executor asks the gateway too."""
        self._database = database
        self._retrieval = retrieval
        self._ingestion = ingestion
        self._execution = execution
        self._fit_of = fit_of
        self._dismissals = Dismissals(database)

    def pages_to_mend(self, *, weeks: int, dismissed: bool = False) -> PagesToMend:
        """See `CoverageReports.pages_to_mend`."""
        since = time.time() - weeks * WEEK_S
        decays = require_ingestion(self._ingestion).decay()
        execution, failed, without = self._execution(), list[PageEvidence](), tuple[str, ...]()
        try:
            commands = execution.failed_commands(weeks=weeks) if execution else ()
            failed = list(map(PageEvidence.of_command, commands))
        except UnavailableError:
            without = ("executor",)
        with self._database.session() as session:
            # Names that a recent ticket has are left out: alerts know them still.
            decayed = [
                PageEvidence.of_decay(each)
                for each in decays
                if each.kind is DecayKind.LINK or not _is_on_ticket(session, each.said, since)
            ]
            refused = list(refused_steps(session, since, PageTexts(self._retrieval)))
        findings = [each.to_finding((each.start_line, each.end_line)) for each in decayed]
        findings += self._still_valid([*failed, *refused])
        pages: dict[str, list[PageFinding]] = defaultdict(list)
        for finding in self._dismissals.annotate(findings):
            if dismissed or not finding.dismissed_by:
                pages[finding.document_id].append(finding)
        return PagesToMend(weeks=weeks, pages=self._group_by_page(pages), without=without)

    def page_uses(self, *, days: int) -> PageUses:
        """See `CoverageReports.page_uses`."""
        return count_page_uses(self._database, days)

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """See `CoverageReports.dismiss`."""
        report = self.pages_to_mend(weeks=dismissal.weeks, dismissed=True)
        findings = (each for page in report.pages for each in page.findings)
        match = next((each for each in findings if each.key == dismissal.key), None)
        if match is not None:
            return self._dismissals.add(match, dismissal.why)
        if report.without:
            raise UnavailableError(f"{', '.join(report.without)} did not answer: it may know of it")
        raise NoFindingError(f"there is no finding {dismissal.key!r}, or not any more")

    def restore(self, key: str) -> None:
        """See `CoverageReports.restore`."""
        self._dismissals.remove(key)

    def of_rules(self, question: RulesQuestion) -> RulesReport:
        """See `CoverageReports.of_rules`."""
        ids = [each.id for each in all_documents(require_ingestion(self._ingestion))]
        since = first_id_at(time.time() - question.weeks * WEEK_S)
        counted = select(TicketRow.alert_name, func.count()).where(TicketRow.id >= since)
        with self._database.session() as session:
            grouped = counted.group_by(TicketRow.alert_name)
            tickets = dict(session.execute(grouped).tuples().all())
        covered = (self._check_rule(rule, ids) for rule in question.rules)
        return RulesReport(
            rules=tuple(
                each.model_copy(update={"tickets": tickets.get(each.alert, 0)}) for each in covered
            ),
            tickets=sum(tickets.values()),
        )

    def unreached(self, *, weeks: int) -> list[UnreachedPage]:
        """See `CoverageReports.unreached`."""
        since = first_id_at(time.time() - weeks * WEEK_S)
        rests_on = select(CitationRow.document_id).where(CitationRow.workflow_id.is_not(None))
        with self._database.session() as session:
            cited = rests_on.where(CitationRow.ticket_id >= since).distinct()
            reached = set(session.scalars(cited))
        return [
            UnreachedPage(document_id=each.id, title=each.title, owner=each.owner)
            for each in all_documents(require_ingestion(self._ingestion))
            if each.nodes and each.id not in reached
        ]

    def _still_valid(self, evidence: Sequence[PageEvidence]) -> Iterator[PageFinding]:
        """Yield findings that the pages still show.

        A page that was changed there, or is gone, has answered its evidence.
        """
        by_page: dict[str, list[PageEvidence]] = defaultdict(list)
        for each in evidence:
            by_page[each.document_id].append(each)
        for document_id in sorted(by_page)[:MOST_PAGES]:
            try:
                document = require_ingestion(self._ingestion).document(document_id)
            except (NotFoundError, ConflictError):
                continue
            if document.id != document_id:  # the page is gone, and another's id ends so
                continue
            lines = document.text.split("\n")
            for each in by_page[document_id]:
                place = each.locate(lines)
                if place is not None:
                    yield each.to_finding(place)

    def _group_by_page(self, pages: Mapping[str, list[PageFinding]]) -> tuple[PageToMend, ...]:
        if not pages:
            return ()
        stale = [
            PageToMend(
                document_id=each.id,
                title=each.title,
                owner=each.owner,
                findings=tuple(sorted(pages[each.id], key=lambda one: (one.start_line, one.key))),
            )
            for each in all_documents(require_ingestion(self._ingestion))
            if each.id in pages
        ]
        stale.sort(key=lambda page: (-len(page.findings), page.document_id))
        return tuple(stale[:MOST_PAGES])

    def _check_rule(self, rule: AlertRule, ids: Sequence[str]) -> RuleCoverage:
        page = page_of_link(rule.runbook_url, ids)
        if page:
            return RuleCoverage(alert=rule.alert, state=RuleState.LINKED, document_id=page)
        context = self._retrieval.retrieve(
            RetrieveRequest(alert_name=rule.alert, description=rule.text, labels=rule.labels)
        )
        fit = self._fit_of(context)
        first = context.chunks[0].chunk.span.document_id if context.chunks and fit else ""
        return RuleCoverage(
            alert=rule.alert,
            state=_STATES[fit] if fit else RuleState.NONE,
            document_id=first,
            is_link_dead=bool(rule.runbook_url),
        )


def _is_on_ticket(session: Session, name: str, since: float) -> bool:
    columns = (TicketRow.title, TicketRow.description, TicketRow.service, TicketRow.alert_name)
    texts = (*columns, cast(TicketRow.labels, Text))
    has_name = or_(
        *(func.lower(column).contains(name.lower(), autoescape=True) for column in texts)
    )
    recent = select(TicketRow.id).where(TicketRow.id >= first_id_at(since), has_name)
    return session.scalar(recent.limit(1)) is not None


def page_of_link(url: str, ids: Iterable[str]) -> str:
    """Return the document whose path shares most of its end with the URL; empty for none.

    The file's name must be the same but for its ending and case; of two that fit as well, neither.
    """
    try:
        wanted = _reversed_parts(unquote(urlsplit(url).path))
    except ValueError:  # `http://[::1/` is no address
        return ""
    if not wanted:
        return ""
    shared: dict[str, int] = {}
    for id_ in ids:
        pairs = zip(wanted, _reversed_parts(id_), strict=False)
        shared[id_] = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    best = max(shared.values(), default=0)
    matches = [id_ for id_, length in shared.items() if length == best]
    return matches[0] if best and len(matches) == 1 else ""


def _reversed_parts(path: str) -> list[str]:
    """Split a path into its parts, the last one first and without the file's ending."""
    parts = [part.casefold() for part in path.split("/") if part][::-1]
    if not parts:
        return []
    name, dot, ending = parts[0].rpartition(".")
    is_file = dot and ending in {"md", "markdown", "html", "adoc", "rst", "txt"}
    return [name if is_file else parts[0], *parts[1:]]
