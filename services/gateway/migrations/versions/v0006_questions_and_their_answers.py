"""Questions and their answers."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision; what was planned before was planned without an answer."""
    op.create_table(
        "gateway_clarification",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("wording", sa.Text(), nullable=False),
        sa.Column("worded_by", sa.Text(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("others", sa.JSON(), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("choice", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("answered_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_gateway_clarification_turn", "gateway_clarification", ["ticket_id", "turn"], unique=True
    )
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.add_column(sa.Column("walks", sa.Integer(), nullable=False, server_default="1"))
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.add_column(sa.Column("walk", sa.Integer(), nullable=False, server_default="1"))
        batch_op.drop_index("ix_gateway_workflow_rank")
        batch_op.create_index(
            "ix_gateway_workflow_rank", ["ticket_id", "walk", "rank"], unique=True
        )


def downgrade() -> None:
    """Back to the revision before; workflows of later walks are dropped."""
    op.execute("UPDATE gateway_ticket SET workflow_id = NULL WHERE walks > 1")
    op.execute("DELETE FROM gateway_workflow WHERE walk > 1")
    with op.batch_alter_table("gateway_workflow", schema=None) as batch_op:
        batch_op.drop_index("ix_gateway_workflow_rank")
        batch_op.create_index("ix_gateway_workflow_rank", ["ticket_id", "rank"], unique=True)
        batch_op.drop_column("walk")
    with op.batch_alter_table("gateway_ticket", schema=None) as batch_op:
        batch_op.drop_column("walks")
    op.drop_index("ix_gateway_clarification_turn", table_name="gateway_clarification")
    op.drop_table("gateway_clarification")
