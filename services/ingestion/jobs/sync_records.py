"""Syncs in SQL: a sync is ended in the transaction that ends its job."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from services.contracts.ingestion import FailedDocument
from services.contracts.syncing import LostApproval, Synced
from services.ingestion.tables import ChangeRow, FailureRow, SyncRow, SyncSourceRow
from services.kit.queue.outbox import Outbox

TELL = "ingestion_sync.tell_sync"
RUNNING, DONE, FAILED = "running", "done", "failed"

_SHOWN_DOCUMENTS = 1_000
_SHOWN_FAILURES = 20
_LONGEST_PAUSE = timedelta(days=1)

_log = structlog.get_logger()


def running_sync(session: Session, condition: ColumnElement[bool]) -> SyncRow | None:
    """Return the sync that is under way of a source, or of a job that it became, if one is."""
    return session.scalar(select(SyncRow).where(condition, SyncRow.status == RUNNING))


def end(
    session: Session, outbox: Outbox, sync: SyncRow, status: str, reason: str, *, notifies: bool
) -> None:
    """Store how the sync ended, when the next is due, and queue the notification."""
    source = session.get_one(SyncSourceRow, sync.source)
    sync.status, sync.reason, sync.ended_at = status, reason, datetime.now(UTC)
    source.failures = 0 if status == DONE else source.failures + 1
    source.commit_id = sync.commit_after if status == DONE else source.commit_id
    pause = timedelta(minutes=source.every_minutes)
    longest = max(pause, _LONGEST_PAUSE)
    source.next_at = sync.ended_at + min(pause * 2 ** min(source.failures, 12), longest)
    lost = lost_approvals(session, sync.job_id)
    if status == FAILED:
        _log.warning("ingestion.sync_failed", source=sync.source, reason=reason)
    if notifies and (lost or status == FAILED):
        outbox.put(session, TELL, {"sync_id": sync.id}, key=f"{TELL}:{sync.id}")


def lost_approvals(session: Session, job_id: str) -> list[LostApproval]:
    """Return the approvals that a job lost, in the order of the documents."""
    lost = select(ChangeRow).where(ChangeRow.job_id == job_id, ChangeRow.what == "approval_lost")
    return [
        LostApproval(document_id=row.document_id, procedures=tuple(row.procedures))
        for row in session.scalars(lost.order_by(ChangeRow.document_id))
    ]


def synced(session: Session, sync: SyncRow) -> Synced:
    """Convert the row to the sync as the contract shows it, with what its job did."""
    failures = select(FailureRow).where(FailureRow.job_id == sync.job_id)
    return Synced(
        id=sync.id,
        source=sync.source,
        status=sync.status,
        reason=sync.reason,
        began_at=sync.began_at,
        ended_at=sync.ended_at,
        commit_before=sync.commit_before,
        commit_after=sync.commit_after,
        job_id=sync.job_id,
        added=_documents(session, sync, "added"),
        changed=_documents(session, sync, "changed"),
        deleted=_documents(session, sync, "deleted"),
        failed=session.scalar(failures.with_only_columns(func.count())) or 0,
        failures=tuple(
            FailedDocument(document_id=row.document_id, reason=row.reason)
            for row in session.scalars(
                failures.order_by(FailureRow.document_id).limit(_SHOWN_FAILURES)
            )
        ),
        approvals_lost=tuple(lost_approvals(session, sync.job_id)),
        told=sync.told,
    )


def latest(session: Session, source: str, limit: int) -> Sequence[SyncRow]:
    """Return the latest syncs of a source, newest first."""
    of_source = select(SyncRow).where(SyncRow.source == source)
    return session.scalars(of_source.order_by(SyncRow.began_at.desc()).limit(limit)).all()


def _documents(session: Session, sync: SyncRow, what: str) -> tuple[str, ...]:
    statement = (
        select(ChangeRow.document_id)
        .where(ChangeRow.job_id == sync.job_id, ChangeRow.what == what)
        .order_by(ChangeRow.document_id)
        .limit(_SHOWN_DOCUMENTS)
    )
    return tuple(session.scalars(statement))
