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
from services.gateway.coverage.dismissals import Dismissals
from services.gateway.coverage.documents import all_documents, asked
from services.gateway.coverage.evidence import Evidence
from services.gateway.coverage.queries import WEEK_S
from services.gateway.coverage.refused_steps import refused_steps
from services.gateway.coverage.standing import place_of_command, place_of_step
from services.gateway.tables import TicketRow
from services.kit.errors import NotFoundError, UnavailableError
from services.kit.ids import first_id_at
from services.kit.sql.database import Database

MOST_PAGES = 500


class NoFindingError(NotFoundError):
    """There is no finding of this key."""


class PagesMending:
    """What of `contracts.coverage.Covering` is about pages to mend."""

    def __init__(
        self,
        database: Database,
        ingestion: Ingestion | None,
        execution: Callable[[], Execution | None],
    ) -> None:
        """`execution` is asked for when it is needed: the executor asks the gateway too."""
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
        decayed = [_of_decay(each) for each in self._named(asked(self._ingestion).decay(), since)]
        failed, without = self._failed(weeks)
        with self._database.session() as session:
            refused = list(refused_steps(session, since))
        found = [each.at((each.start_line, each.end_line)) for each in decayed]
        found += self._standing([*failed, *refused])
        pages: dict[str, list[PageFinding]] = defaultdict(list)
        for told in self._dismissals.said_of(found):
            if dismissed or not told.dismissed_by:
                pages[told.document_id].append(told)
        return PagesToMend(weeks=weeks, pages=self._told(pages), without=without)

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """See `Covering.dismiss`."""
        return self._dismissals.add(self._finding(dismissal), dismissal.why)

    def restore(self, key: str) -> None:
        """See `Covering.restore`."""
        self._dismissals.take_back(key)

    def _finding(self, wanted: FindingDismissal) -> PageFinding:
        told = self.pages_to_mend(weeks=wanted.weeks, dismissed=True)
        findings = (each for page in told.pages for each in page.findings)
        found = next((each for each in findings if each.key == wanted.key), None)
        if found is not None:
            return found
        if told.without:
            raise UnavailableError(f"{', '.join(told.without)} did not answer: it may know of it")
        raise NoFindingError(f"there is no finding {wanted.key!r}, or not any more")

    def _failed(self, weeks: int) -> tuple[list[Evidence], tuple[str, ...]]:
        execution = self._execution()
        if execution is None:
            return [], ()
        try:
            return [_of_command(each) for each in execution.failed_commands(weeks=weeks)], ()
        except UnavailableError:
            return [], ("executor",)

    def _standing(self, found: Sequence[Evidence]) -> Iterator[PageFinding]:
        """What the pages still say; a page that was changed there, or is gone, has answered it."""
        by_page: dict[str, list[Evidence]] = defaultdict(list)
        for each in found:
            by_page[each.document_id].append(each)
        for document_id in sorted(by_page)[:MOST_PAGES]:
            try:
                lines = asked(self._ingestion).document(document_id).text.split("\n")
            except NotFoundError:
                continue
            for each in by_page[document_id]:
                place = (
                    place_of_command(lines, each.said, each.start_line)
                    if each.is_command
                    else place_of_step(lines, each.said, each.start_line, each.end_line)
                )
                if place is not None:
                    yield each.at(place)

    def _named(self, found: Iterable[Decay], since: float) -> Iterator[Decay]:
        """All but names that a ticket has of late: alerts know them still."""
        with self._database.session() as session:
            for each in found:
                if each.kind is DecayKind.LINK or not _is_on_ticket(session, each.said, since):
                    yield each

    def _told(self, pages: Mapping[str, list[PageFinding]]) -> tuple[PageToMend, ...]:
        if not pages:
            return ()
        told = [
            PageToMend(
                document_id=each.id,
                title=each.title,
                owner=each.owner,
                findings=tuple(sorted(pages[each.id], key=lambda one: (one.start_line, one.key))),
            )
            for each in all_documents(asked(self._ingestion))
            if each.id in pages
        ]
        told.sort(key=lambda page: (-len(page.findings), page.document_id))
        return tuple(told[:MOST_PAGES])


def _is_on_ticket(session: Session, name: str, since: float) -> bool:
    columns = (TicketRow.title, TicketRow.description, TicketRow.service, TicketRow.alert_name)
    texts = (*columns, cast(TicketRow.labels, Text))
    has_name = or_(
        *(func.lower(column).contains(name.lower(), autoescape=True) for column in texts)
    )
    recent = select(TicketRow.id).where(TicketRow.id >= first_id_at(since), has_name)
    return session.scalar(recent.limit(1)) is not None


def _of_command(failed: FailedCommand) -> Evidence:
    runs = f"{failed.times} runs" if failed.times > 1 else "a run"
    return Evidence(
        kind=FindingKind.COMMAND_FAILS,
        document_id=failed.document_id,
        start_line=failed.start_line,
        end_line=failed.end_line,
        said=failed.command,
        seen=f"not understood in {runs}, last by {failed.target}: “{failed.answer}”",
        times=failed.times,
        since=failed.first_at,
        last_at=failed.last_at,
        is_command=True,
        tickets=failed.tickets,
        runs=failed.runs,
    )


def _of_decay(decay: Decay) -> Evidence:
    is_link = decay.kind is DecayKind.LINK
    return Evidence(
        kind=FindingKind.LINK_DEAD if is_link else FindingKind.NAME_GONE,
        document_id=decay.document_id,
        start_line=decay.line,
        end_line=decay.line,
        said=decay.said,
        seen=_link_told(decay) if is_link else _name_told(decay),
        times=max(1, decay.others),
        since=decay.since,
        last_at=decay.since,
        documents=decay.was,
    )


def _link_told(decay: Decay) -> str:
    gone = f"led to {decay.was[0]}, which is gone" if decay.was else "leads to no page"
    return f"{gone}; {decay.instead} may be meant" if decay.instead else gone


def _name_told(decay: Decay) -> str:
    gone = f"{decay.others} other pages named it, and none does any more"
    instead = f"; they name {decay.instead} now" if decay.instead else ""
    return f"{gone}, nor does a ticket of late{instead}"
