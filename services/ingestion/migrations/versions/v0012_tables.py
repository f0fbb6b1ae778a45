"""All tables of `ingestion`, as release v0.1.0-alpha.1 has them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "ingestion_built",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("recipe", sa.String(length=32), nullable=False),
        sa.Column("nodes", sa.JSON(), nullable=False),
        sa.Column("tally", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_index("ix_ingestion_built_recipe", "ingestion_built", ["recipe"])
    op.create_table(
        "ingestion_document",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=100), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("pipeline", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=10), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("media_type", sa.String(length=200), nullable=False),
        sa.Column("chunk_ids", sa.JSON(), nullable=False),
        sa.Column("node_ids", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), server_default="", nullable=False),
        sa.Column("pictures_taken", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_index("ix_ingestion_document_text_hash", "ingestion_document", ["text_hash"])
    op.create_table(
        "ingestion_job",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("is_upload", sa.Boolean(), nullable=False),
        sa.Column("is_queued", sa.Boolean(), nullable=False),
        sa.Column("prune", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("unchanged", sa.Integer(), nullable=False),
        sa.Column("deleted", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("chunks_embedded", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("approved_deleted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seconds_left", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_ingestion_job_created_at", "ingestion_job", ["created_at", "id"])
    op.create_table(
        "ingestion_owner",
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("prefix", sa.String(length=1024), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("root", "prefix"),
    )
    op.create_table(
        "ingestion_picture",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("fingerprint", sa.String(length=100), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("media_type", sa.String(length=20), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("refusal", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "path"),
    )
    op.create_table(
        "ingestion_proposal",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("original", sa.Text(), nullable=False),
        sa.Column("reading", sa.JSON(), nullable=False),
        sa.Column("runs", sa.JSON(), nullable=False),
        sa.Column("proposed_by", sa.String(length=200), nullable=False),
        sa.Column("proposed_by_id", sa.String(length=400), nullable=False),
        sa.Column("proposed_at", sa.Float(), nullable=False),
        sa.Column("decided_by", sa.String(length=200), nullable=False),
        sa.Column("decided_by_id", sa.String(length=400), nullable=False),
        sa.Column("decided_kind", sa.String(length=20), nullable=False),
        sa.Column("decided_at", sa.Float(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("validated_at", sa.Float(), nullable=True),
        sa.Column("kept_hash", sa.String(length=64), nullable=False),
        sa.Column("is_vouched", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("document_id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("ix_ingestion_proposal_state", "ingestion_proposal", ["state", "proposed_at"])
    op.create_table(
        "ingestion_surveyed",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("gone_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_index("ix_ingestion_surveyed_text_hash", "ingestion_surveyed", ["text_hash"])
    op.create_table(
        "ingestion_sync_source",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("branch", sa.String(length=200), nullable=False),
        sa.Column("subfolder", sa.String(length=500), nullable=False),
        sa.Column("every_minutes", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("commit_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_ingestion_sync_source_next_at", "ingestion_sync_source", ["next_at"])
    op.create_table(
        "ingestion_unbuilt",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("recipe", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("document_id"),
    )
    op.create_table(
        "ingestion_unread",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("recipe", sa.String(length=400), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("text_hash", "recipe"),
    )
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
        "ingestion_failure",
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["ingestion_job.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "document_id"),
    )
    op.create_table(
        "ingestion_mention",
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("what", sa.String(length=300), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("line_hash", sa.String(length=16), nullable=False),
        sa.Column("line_at", sa.Float(), nullable=False),
        sa.Column("led_to", sa.String(length=1024), server_default="", nullable=False),
        sa.Column("led_until", sa.Float(), nullable=True),
        sa.Column("gone_at", sa.Float(), nullable=True),
        sa.Column("in_code", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["ingestion_surveyed.document_id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", "kind", "what"),
    )
    op.create_index("ix_ingestion_mention_what", "ingestion_mention", ["kind", "what"])
    op.create_table(
        "ingestion_sync",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("began_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("commit_before", sa.String(length=64), nullable=False),
        sa.Column("commit_after", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.String(length=36), nullable=False),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["source"], ["ingestion_sync_source.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_ingestion_sync_job_id", "ingestion_sync", ["job_id"])
    op.create_index("ix_ingestion_sync_source", "ingestion_sync", ["source"])
