"""Queue entries of the executor."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from services.executor.reporting import Reporting, SearchReporting
from services.executor.runs.engine import RunEngine
from services.executor.runs.store import ADVANCE_TASK, REPORT_TASK
from services.executor.search.engine import SearchEngine
from services.executor.search.store import REPORT_TASK as SEARCH_REPORT_TASK
from services.executor.search.store import SEARCH_TASK
from services.executor.summary.service import SummaryService
from services.executor.summary.store import DRAW_TASK, PROPOSE_TASK
from services.kit.queue.outbox import Outbox


def register(
    outbox: Outbox, engine: RunEngine, reporting: Reporting, summaries: SummaryService
) -> None:
    """Make workers carry runs on, tell tickets how they ended, and propose what was learned."""
    outbox.register(ADVANCE_TASK, engine.advance, on_parked=_keep)
    outbox.register(REPORT_TASK, reporting.run, on_parked=_keep)
    outbox.register(DRAW_TASK, summaries.draw, on_parked=summaries.on_not_drawn)
    outbox.register(PROPOSE_TASK, summaries.hand_in, on_parked=summaries.on_not_proposed)


def register_searches(outbox: Outbox, engine: SearchEngine, reporting: SearchReporting) -> None:
    """Make workers carry searches on, and tell tickets what came of them."""
    outbox.register(SEARCH_TASK, engine.advance, on_parked=_keep)
    outbox.register(SEARCH_REPORT_TASK, reporting.search, on_parked=_keep)


def _keep(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """The run or search waits for somebody to look; the row stays parked with its reason."""
