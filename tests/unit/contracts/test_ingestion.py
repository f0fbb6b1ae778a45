"""What a job tells of itself."""

from datetime import UTC, datetime

import pytest

from services.contracts.ingestion import FailedDocument, IngestJob, JobStatus

NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("listed", "status", "failures"),
    [(0, JobStatus.DONE, 0), (2, JobStatus.DONE, 7), (2, JobStatus.RUNNING, 2)],
)
def test_failures_are_counted_beyond_those_that_are_listed(listed, status, failures):
    failed = [FailedDocument(document_id=f"{n}.pdf", reason="broken") for n in range(listed)]
    job = IngestJob(
        id="j",
        source="/docs",
        status=status,
        total=10,
        added=1,
        changed=1,
        unchanged=1,
        failed=tuple(failed),
        created_at=NOW,
        updated_at=NOW,
    )
    assert job.failures == failures
