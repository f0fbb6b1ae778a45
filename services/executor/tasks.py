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
from services.kit.queue.outbox import Outbox


def register(outbox: Outbox, engine: RunEngine, reporting: Reporting) -> None:
    """Make workers carry runs on, and tell tickets how they ended."""
    outbox.register(ADVANCE_TASK, engine.advance, on_parked=_keep)
    outbox.register(REPORT_TASK, reporting.run, on_parked=_keep)


def register_searches(outbox: Outbox, engine: SearchEngine, reporting: SearchReporting) -> None:
    """Make workers carry searches on, and tell tickets what came of them."""
    outbox.register(SEARCH_TASK, engine.advance, on_parked=_keep)
    outbox.register(SEARCH_REPORT_TASK, reporting.search, on_parked=_keep)


def _keep(session: Session, arguments: Mapping[str, Any], reason: str) -> None:
    """The run or search waits for somebody to look; the row stays parked with its reason."""
