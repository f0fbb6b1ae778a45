"""Proposed pages in SQL, and their conversion to the contract."""

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from services.contracts.proposals import (
    ProposalDetail,
    ProposalOrigin,
    ProposalState,
    ProposalSummary,
    SourceRun,
)
from services.ingestion.tables import ProposalRow
from services.kit.errors import NotFoundError
from services.runbook.model import Reading

DAY_S = 86_400.0


class ProposalNotFoundError(NotFoundError):
    """No page of this id was proposed."""


def get_proposal(session: Session, proposal_id: str) -> ProposalRow:
    """Return the row as it is now.

    Raises:
        ProposalNotFoundError: There is none.
    """
    is_id = proposal_id.isprintable() and len(proposal_id) <= ProposalRow.id.type.length
    row = session.get(ProposalRow, proposal_id, populate_existing=True) if is_id else None
    if row is None:
        raise ProposalNotFoundError(f"no proposed page has the id {proposal_id[:60]!r}")
    return row


def shown_summary(row: ProposalRow, expires_days: int) -> ProposalSummary:
    """Build the proposal's summary; learned pages expire after so many days, 0: never."""
    is_ending = row.state == ProposalState.ACCEPTED and row.origin == ProposalOrigin.LEARNED
    since = (row.validated_at or row.decided_at) if expires_days and is_ending else None
    return ProposalSummary(
        id=row.id,
        title=row.title,
        document_id=row.document_id,
        origin=ProposalOrigin(row.origin),
        state=ProposalState(row.state),
        learned_from=len(row.runs),
        proposed_by=row.proposed_by,
        proposed_at=_moment(row.proposed_at),
        decided_by=row.decided_by,
        decided_at=_moment(row.decided_at) if row.decided_at else None,
        validated_at=_moment(row.validated_at) if row.validated_at else None,
        expires_at=_moment(since + expires_days * DAY_S) if since is not None else None,
    )


def shown_detail(row: ProposalRow, expires_days: int) -> ProposalDetail:
    """Build the full proposal."""
    return ProposalDetail(
        **dict(shown_summary(row, expires_days)),
        text=row.text,
        text_hash=row.text_hash,
        reading=Reading.model_validate(row.reading),
        runs=tuple(SourceRun.model_validate(each) for each in row.runs),
        original=row.original,
        why=row.why,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
