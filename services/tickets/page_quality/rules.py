"""Coverage of alert rules: which have a page, by link or by what a ticket of theirs would get."""

import time
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import unquote, urlsplit

from sqlalchemy import func, select

from services.contracts.coverage import (
    AlertRule,
    RuleCoverage,
    RulesQuestion,
    RulesReport,
    RuleState,
    UnreachedPage,
)
from services.contracts.ingestion import Ingestion
from services.contracts.retrieval import Retrieval, RetrieveRequest
from services.contracts.ticket import Fit
from services.kit.ids import first_id_at
from services.kit.sql.database import Database
from services.knowledge.model import KnowledgeContext
from services.tickets.page_quality.documents import all_documents, require_ingestion
from services.tickets.page_quality.queries import WEEK_S
from services.tickets.tables import CitationRow, TicketRow

FitOf = Callable[[KnowledgeContext], Fit | None]
"""Function from retrieved knowledge to how surely it treats a ticket."""

_STATES = {Fit.SURE: RuleState.SURE, Fit.UNSURE: RuleState.NEAR}


class AlertRuleCoverage:
    """Part of `contracts.coverage.Covering` that is about alert rules."""

    def __init__(
        self, database: Database, retrieval: Retrieval, ingestion: Ingestion | None, fit_of: FitOf
    ) -> None:
        self._database = database
        self._retrieval = retrieval
        self._ingestion = ingestion
        self._fit_of = fit_of

    def of_rules(self, question: RulesQuestion) -> RulesReport:
        """See `Covering.of_rules`."""
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
        """See `Covering.unreached`."""
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
    shared = [(_count_shared(wanted, _reversed_parts(id_)), id_) for id_ in ids]
    best = max((length for length, _ in shared), default=0)
    matches = [id_ for length, id_ in shared if length == best]
    return matches[0] if best and len(matches) == 1 else ""


def _reversed_parts(path: str) -> list[str]:
    """Split a path into its parts, the last one first and without the file's ending."""
    parts = [part.casefold() for part in path.split("/") if part][::-1]
    if not parts:
        return []
    name, dot, ending = parts[0].rpartition(".")
    is_file = dot and ending in {"md", "markdown", "html", "adoc", "rst", "txt"}
    return [name if is_file else parts[0], *parts[1:]]


def _count_shared(one: Sequence[str], other: Sequence[str]) -> int:
    alike = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        alike += 1
    return alike
