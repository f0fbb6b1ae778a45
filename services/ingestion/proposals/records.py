"""Proposed pages in SQL, and their conversion to the contract."""

from collections.abc import Collection
from datetime import UTC, datetime

from sqlalchemy import or_, select
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
from services.kit.sql.short_ids import (
    FEWEST_CHARACTERS,
    MOST_LISTED,
    complete_short_id,
    the_only_one,
)
from services.runbook.model import Reading

DAY_S = 86_400.0


class ProposalNotFoundError(NotFoundError):
    """No page of this id was proposed."""


def get_proposal(session: Session, proposal_id: str) -> ProposalRow:
    """Return the row as it is now, by its id or document; the beginning or end of these will do.

    Raises:
        ProposalNotFoundError: There is none.
        AmbiguousIdError: There are several.
    """
    row = None
    if proposal_id.isprintable():
        is_named = or_(ProposalRow.id == proposal_id, ProposalRow.document_id == proposal_id)
        id_ = session.scalar(select(ProposalRow.id).where(is_named))
        id_ = id_ or complete_short_id(session, ProposalRow.id, proposal_id)
        id_ = id_ or _id_by_end_of_document(session, proposal_id)
        row = session.get(ProposalRow, id_, populate_existing=True) if id_ else None
    if row is None:
        raise ProposalNotFoundError(f"no proposed page has the id {proposal_id[:60]!r}")
    return row


def _id_by_end_of_document(session: Session, end: str) -> str | None:
    if len(end) < FEWEST_CHARACTERS:
        return None
    ends_so = ProposalRow.document_id.endswith(end, autoescape=True)
    documents = select(ProposalRow.document_id).where(ends_so).limit(MOST_LISTED + 1)
    document_id = the_only_one(session.scalars(documents).all(), end)
    return session.scalar(select(ProposalRow.id).where(ProposalRow.document_id == document_id))


def forget_tickets(session: Session, ticket_ids: Collection[str]) -> None:
    """Delete the pages proposed of these tickets; one that was accepted loses their titles.

    A page whose reading may still be stored stays until that is forgotten.
    """
    for row in session.scalars(select(ProposalRow)).all():
        if not any(run["ticket_id"] in ticket_ids for run in row.runs):
            continue
        if row.state == ProposalState.ACCEPTED or row.kept_hash:
            row.runs = [
                run | {"ticket_title": ""} if run["ticket_id"] in ticket_ids else run
                for run in row.runs
            ]
        else:
            session.delete(row)


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
