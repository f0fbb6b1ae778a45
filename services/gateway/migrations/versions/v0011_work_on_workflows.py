"""What engineers did with workflows and their steps, and the versions that they made of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.add_column(sa.Column("candidate_id", sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column("base_id", sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
        batch_op.add_column(
            sa.Column("author", sa.String(length=200), nullable=False, server_default="")
        )
    op.create_table(
        "gateway_mark",
        sa.Column("candidate_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=400), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=True),
        sa.Column("marked_by", sa.String(length=200), nullable=False),
        sa.Column("marked_at", sa.Float(), nullable=True),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("judged_by", sa.String(length=200), nullable=False),
        sa.Column("judged_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["candidate_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("candidate_id", "step_id"),
    )
    op.create_table(
        "gateway_adoption",
        sa.Column("candidate_id", sa.String(length=36), nullable=False),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("judged_by", sa.String(length=200), nullable=False),
        sa.Column("judged_at", sa.Float(), nullable=True),
        sa.Column("core", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.Column("worked_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["candidate_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("candidate_id"),
    )
    with op.batch_alter_table("gateway_adoption", schema=None) as batch_op:
        batch_op.create_index("ix_gateway_adoption_worked_at", ["worked_at"])


def downgrade() -> None:
    """Back to the revision before; what was done and said of steps is lost, versions too."""
    op.execute(
        "UPDATE gateway_ticket SET workflow_id ="
        " (SELECT candidate_id FROM gateway_workflow WHERE gateway_workflow.id = workflow_id)"
        " WHERE workflow_id IN (SELECT id FROM gateway_workflow WHERE candidate_id IS NOT NULL)"
    )
    op.execute("DELETE FROM gateway_workflow WHERE candidate_id IS NOT NULL")
    with op.batch_alter_table("gateway_adoption", schema=None) as batch_op:
        batch_op.drop_index("ix_gateway_adoption_worked_at")
    op.drop_table("gateway_adoption")
    op.drop_table("gateway_mark")
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        for name in ("author", "version", "base_id", "candidate_id"):
            batch_op.drop_column(name)
