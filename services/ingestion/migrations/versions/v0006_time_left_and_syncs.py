"""Time left of a job, what it did, and sources that are synced."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_change",
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("what", sa.String(length=20), nullable=False),
        sa.Column("procedures", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["ingestion_job.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "document_id", "what"),
    )
    op.create_table(
        "ingestion_sync_source",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("branch", sa.String(length=200), nullable=False),
        sa.Column("subfolder", sa.String(length=500), nullable=False),
        sa.Column("every_minutes", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("commit_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_ingestion_sync_source_next_at", "ingestion_sync_source", ["next_at"])
    op.create_table(
        "ingestion_sync",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("commit_before", sa.String(length=64), nullable=False),
        sa.Column("commit_after", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["ingestion_sync_source.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_ingestion_sync_source", "ingestion_sync", ["source"])
    op.create_index("ix_ingestion_sync_job_id", "ingestion_sync", ["job_id"])
    with op.batch_alter_table("ingestion_job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("seconds_left", sa.Float(), nullable=True))


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("ingestion_job", schema=None) as batch_op:
        batch_op.drop_column("seconds_left")
    for table in ("ingestion_sync", "ingestion_sync_source", "ingestion_change"):
        op.drop_table(table)
