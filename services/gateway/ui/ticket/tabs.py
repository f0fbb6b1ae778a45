"""A page and the workflow that somebody read in it: two tabs of one ticket."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.contracts.gateway import StoredWorkflow


@dataclass(frozen=True)
class Tab:
    """One of them."""

    name: str
    id: str
    """The candidate that it shows."""
    is_shown: bool


def tabs_of(stored: StoredWorkflow, others: Sequence[StoredWorkflow]) -> tuple[Tab, ...]:
    """Return the tabs of the workflow that is shown; none where its page has no other.

    `others` are the ticket's candidates of the other kind, the best first.
    """
    documents = _documents(stored)
    other = next(
        (
            each
            for each in others
            if documents & _documents(each) and (each.workflow.is_checklist or _is_reading(each))
        ),
        None,
    )
    shown = (stored, other)
    page = next((each for each in shown if each and each.workflow.is_checklist), None)
    reading = next((each for each in shown if each and _is_reading(each)), None)
    if page is None or reading is None:
        return ()
    return tuple(
        Tab(name, each.id, is_shown=each is stored)
        for name, each in (("Page", page), ("Workflow", reading))
    )


def _documents(stored: StoredWorkflow) -> set[str]:
    origin = stored.workflow.provenance
    return set(origin.document_ids) if origin else set()


def _is_reading(stored: StoredWorkflow) -> bool:
    origin = stored.workflow.provenance
    return origin is not None and not stored.workflow.is_checklist and bool(origin.reader)
