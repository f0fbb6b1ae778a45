"""Pages that are stale by evidence: each service tells what it saw, and here it comes together."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Text, cast, func, or_, select
from sqlalchemy.orm import Session

from services.contracts.coverage import (
    FindingDismissal,
    FindingKind,
    PageFinding,
    PagesToMend,
    PageToMend,
)
from services.contracts.execution import Execution, FailedCommand
from services.contracts.ingestion import (
    Decay,
    DecayKind,
    Ingestion,
)
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.ids import first_id_at
from services.kit.sql.database import Database
from services.tickets.page_quality.dismissals import Dismissals
from services.tickets.page_quality.documents import all_documents, require_ingestion
from services.tickets.page_quality.evidence import PageEvidence
from services.tickets.page_quality.queries import WEEK_S
from services.tickets.page_quality.refused_steps import refused_steps
from services.tickets.page_quality.relocation import locate_command, locate_step
from services.tickets.tables import TicketRow

MOST_PAGES = 500


class NoFindingError(NotFoundError):
    """No finding has this key."""


class StalePages:
    """Part of `contracts.coverage.Covering` that is about pages to mend."""

    def __init__(
        self,
        database: Database,
        ingestion: Ingestion | None,
        execution: Callable[[], Execution | None],
    ) -> None:
        """Call `execution` only when it is needed: the executor asks the gateway too."""
        self._database = database
        self._ingestion = ingestion
        self._execution = execution
        self._dismissals = Dismissals(database)

    def pages_to_mend(self, *, weeks: int, dismissed: bool = False) -> PagesToMend:
        """See `Covering.pages_to_mend`.

        Raises:
            UnavailableError: Ingestion did not answer: without the pages nothing can be said.
        """
        since = time.time() - weeks * WEEK_S
        decayed = [
            _of_decay(each)
            for each in self._without_current_names(
                require_ingestion(self._ingestion).decay(), since
            )
        ]
        failed, without = self._failed_commands(weeks)
        with self._database.session() as session:
            refused = list(refused_steps(session, since))
        findings = [each.to_finding((each.start_line, each.end_line)) for each in decayed]
        findings += self._still_valid([*failed, *refused])
        pages: dict[str, list[PageFinding]] = defaultdict(list)
        for finding in self._dismissals.annotate(findings):
            if dismissed or not finding.dismissed_by:
                pages[finding.document_id].append(finding)
        return PagesToMend(weeks=weeks, pages=self._group_by_page(pages), without=without)

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """See `Covering.dismiss`."""
        return self._dismissals.add(self._finding(dismissal), dismissal.why)

    def restore(self, key: str) -> None:
        """See `Covering.restore`."""
        self._dismissals.remove(key)

    def _finding(self, wanted: FindingDismissal) -> PageFinding:
        report = self.pages_to_mend(weeks=wanted.weeks, dismissed=True)
        findings = (each for page in report.pages for each in page.findings)
        match = next((each for each in findings if each.key == wanted.key), None)
        if match is not None:
            return match
        if report.without:
            raise UnavailableError(f"{', '.join(report.without)} did not answer: it may know of it")
        raise NoFindingError(f"there is no finding {wanted.key!r}, or not any more")

    def _failed_commands(self, weeks: int) -> tuple[list[PageEvidence], tuple[str, ...]]:
        execution = self._execution()
        if execution is None:
            return [], ()
        try:
            return [_of_command(each) for each in execution.failed_commands(weeks=weeks)], ()
        except UnavailableError:
            return [], ("executor",)

    def _still_valid(self, evidence: Sequence[PageEvidence]) -> Iterator[PageFinding]:
        """Yield findings that the pages still show.

        A page that was changed there, or is gone, has answered its evidence.
        """
        by_page: dict[str, list[PageEvidence]] = defaultdict(list)
        for each in evidence:
            by_page[each.document_id].append(each)
        for document_id in sorted(by_page)[:MOST_PAGES]:
            try:
                lines = require_ingestion(self._ingestion).document(document_id).text.split("\n")
            except NotFoundError:
                continue
            for each in by_page[document_id]:
                place = (
                    locate_command(lines, each.text, each.start_line)
                    if each.is_command
                    else locate_step(lines, each.text, each.start_line, each.end_line)
                )
                if place is not None:
                    yield each.to_finding(place)

    def _without_current_names(self, decays: Iterable[Decay], since: float) -> Iterator[Decay]:
        """Yield the decays, without names that a recent ticket has: alerts know them still."""
        with self._database.session() as session:
            for each in decays:
                if each.kind is DecayKind.LINK or not _is_on_ticket(session, each.said, since):
                    yield each

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


def _is_on_ticket(session: Session, name: str, since: float) -> bool:
    columns = (TicketRow.title, TicketRow.description, TicketRow.service, TicketRow.alert_name)
    texts = (*columns, cast(TicketRow.labels, Text))
    has_name = or_(
        *(func.lower(column).contains(name.lower(), autoescape=True) for column in texts)
    )
    recent = select(TicketRow.id).where(TicketRow.id >= first_id_at(since), has_name)
    return session.scalar(recent.limit(1)) is not None


def _of_command(failed: FailedCommand) -> PageEvidence:
    runs = f"{failed.times} runs" if failed.times > 1 else "a run"
    return PageEvidence(
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


def _of_decay(decay: Decay) -> PageEvidence:
    is_link = decay.kind is DecayKind.LINK
    return PageEvidence(
        kind=FindingKind.LINK_DEAD if is_link else FindingKind.NAME_GONE,
        document_id=decay.document_id,
        start_line=decay.line,
        end_line=decay.line,
        text=decay.said,
        seen=_describe_link(decay) if is_link else _describe_name(decay),
        times=max(1, decay.others),
        since=decay.since,
        last_at=decay.since,
        documents=decay.was,
    )


def _describe_link(decay: Decay) -> str:
    gone = f"led to {decay.was[0]}, which is gone" if decay.was else "leads to no page"
    return f"{gone}; {decay.instead} may be meant" if decay.instead else gone


def _describe_name(decay: Decay) -> str:
    gone = f"{decay.others} other pages named it, and none does any more"
    instead = f"; they name {decay.instead} now" if decay.instead else ""
    return f"{gone}, nor does a ticket of late{instead}"
