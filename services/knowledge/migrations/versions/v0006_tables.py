"""All tables of `knowledge`, as release v0.1.0-alpha.1 has them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "knowledge_case",
        sa.Column("id", sa.String(length=512), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("team", sa.String(length=512), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("version", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_knowledge_case_at", "knowledge_case", ["at", "id"])
    op.create_index("ix_knowledge_case_team", "knowledge_case", ["team"])
    op.create_index("ix_knowledge_case_version", "knowledge_case", ["version"])
    op.create_table(
        "knowledge_document",
        sa.Column("id", sa.String(length=1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("media_type", sa.String(length=200), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("front_matter", sa.JSON(), nullable=False),
        sa.Column("screening", sa.String(length=16), nullable=True),
        sa.Column("screened", sa.Text(), nullable=True),
        sa.Column("text_hash", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_knowledge_document_text_hash", "knowledge_document", ["text_hash"])
    op.create_table(
        "knowledge_node",
        sa.Column("id", sa.String(length=1024), nullable=False),
        sa.Column("merged", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "knowledge_said",
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(length=512), nullable=False),
        sa.Column("version", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("text_hash", "place"),
    )
    op.create_index("ix_knowledge_said_version", "knowledge_said", ["version"])
    op.create_table(
        "knowledge_case_entity",
        sa.Column("case_id", sa.String(length=512), nullable=False),
        sa.Column("entity", sa.String(length=512), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["knowledge_case.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("case_id", "entity"),
    )
    op.create_index("ix_knowledge_case_entity_entity", "knowledge_case_entity", ["entity"])
    op.create_table(
        "knowledge_link",
        sa.Column("node_id", sa.String(length=1024), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["knowledge_node.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_id", "document_id"),
    )
    op.create_index("ix_knowledge_link_document_id", "knowledge_link", ["document_id"])
    op.create_table(
        "knowledge_name",
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("node_id", sa.String(length=1024), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["knowledge_node.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name", "node_id"),
    )
    op.create_index("ix_knowledge_name_node_id", "knowledge_name", ["node_id"])
    op.create_table(
        "knowledge_part",
        sa.Column("node_id", sa.String(length=1024), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["knowledge_node.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_id", "document_id"),
    )
    op.create_index("ix_knowledge_part_document_id", "knowledge_part", ["document_id"])
    op.create_table(
        "knowledge_resolved_case",
        sa.Column("id", sa.String(length=512), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.String(length=512), nullable=False),
        sa.Column("version", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["knowledge_document.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_knowledge_resolved_case_at", "knowledge_resolved_case", ["document_id", "at"]
    )
    op.create_index("ix_knowledge_resolved_case_version", "knowledge_resolved_case", ["version"])
