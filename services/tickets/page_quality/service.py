"""Coverage service: pages to mend, alert rules, and pages that no ticket reaches."""

from collections.abc import Callable

from services.contracts.coverage import (
    FindingDismissal,
    PageFinding,
    PagesToMend,
    RulesQuestion,
    RulesReport,
    UnreachedPage,
)
from services.contracts.execution import Execution
from services.contracts.ingestion import Ingestion
from services.contracts.retrieval import Retrieval
from services.kit.sql.database import Database
from services.tickets.page_quality.rules import AlertRuleCoverage, FitOf
from services.tickets.page_quality.stale_pages import StalePages


class CoverageService:
    """Implementation of `contracts.coverage.Covering`."""

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
        self._stale_pages = StalePages(database, ingestion, execution)
        self._rules = AlertRuleCoverage(database, retrieval, ingestion, fit_of)

    def pages_to_mend(self, *, weeks: int, dismissed: bool = False) -> PagesToMend:
        """See `Covering.pages_to_mend`."""
        return self._stale_pages.pages_to_mend(weeks=weeks, dismissed=dismissed)

    def dismiss(self, dismissal: FindingDismissal) -> PageFinding:
        """See `Covering.dismiss`."""
        return self._stale_pages.dismiss(dismissal)

    def restore(self, key: str) -> None:
        """See `Covering.restore`."""
        self._stale_pages.restore(key)

    def of_rules(self, question: RulesQuestion) -> RulesReport:
        """See `Covering.of_rules`."""
        return self._rules.of_rules(question)

    def unreached(self, *, weeks: int) -> list[UnreachedPage]:
        """See `Covering.unreached`."""
        return self._rules.unreached(weeks=weeks)
