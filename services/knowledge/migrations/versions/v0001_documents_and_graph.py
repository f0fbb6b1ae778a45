"""Documents and graph."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "knowledge_document",
        sa.Column("id", sa.String(length=1024), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("media_type", sa.String(length=200), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("front_matter", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "knowledge_node",
        sa.Column("id", sa.String(length=1024), nullable=False),
        sa.Column("merged", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "knowledge_link",
        sa.Column("node_id", sa.String(length=1024), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["knowledge_node.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_id", "document_id"),
    )
    with op.batch_alter_table("knowledge_link", schema=None) as batch_op:
        batch_op.create_index("ix_knowledge_link_document_id", ["document_id"], unique=False)

    op.create_table(
        "knowledge_name",
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("node_id", sa.String(length=1024), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["knowledge_node.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name", "node_id"),
    )
    with op.batch_alter_table("knowledge_name", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_knowledge_name_node_id"), ["node_id"], unique=False)

    op.create_table(
        "knowledge_part",
        sa.Column("node_id", sa.String(length=1024), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["node_id"], ["knowledge_node.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("node_id", "document_id"),
    )
    with op.batch_alter_table("knowledge_part", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_knowledge_part_document_id"), ["document_id"], unique=False
        )


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("knowledge_part", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_knowledge_part_document_id"))

    op.drop_table("knowledge_part")
    with op.batch_alter_table("knowledge_name", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_knowledge_name_node_id"))

    op.drop_table("knowledge_name")
    with op.batch_alter_table("knowledge_link", schema=None) as batch_op:
        batch_op.drop_index("ix_knowledge_link_document_id")

    op.drop_table("knowledge_link")
    op.drop_table("knowledge_node")
    op.drop_table("knowledge_document")
