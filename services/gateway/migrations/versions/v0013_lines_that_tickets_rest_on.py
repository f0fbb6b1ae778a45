"""Lines that tickets rest on."""

import json
from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_AT_ONCE = 200

_CITATIONS = sa.table(
    "gateway_citation",
    sa.column("ticket_id"),
    sa.column("workflow_id"),
    sa.column("document_id"),
    sa.column("start_line"),
    sa.column("end_line"),
)


def upgrade() -> None:
    """To this revision; what earlier tickets rest on is read from their workflows."""
    op.create_table(
        "gateway_citation",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("workflow_id", sa.String(length=36), nullable=True),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("start_line", sa.Integer(), nullable=False),
        sa.Column("end_line", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["workflow_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("gateway_citation", schema=None) as batch_op:
        batch_op.create_index(
            "ix_gateway_citation_document", ["document_id", "ticket_id"], unique=False
        )
        batch_op.create_index("ix_gateway_citation_ticket", ["ticket_id"], unique=False)
        batch_op.create_index("ix_gateway_citation_workflow", ["workflow_id"], unique=False)
    _fill()


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("gateway_citation")


def _fill() -> None:
    connection = op.get_bind()
    ids = connection.execute(sa.text("SELECT id FROM gateway_ticket ORDER BY id")).scalars().all()
    asked = sa.text(
        "SELECT t.id, t.workflow_id, t.nearest, w.body FROM gateway_ticket t"
        " LEFT JOIN gateway_workflow w ON w.id = t.workflow_id WHERE t.id IN :ids"
    ).bindparams(sa.bindparam("ids", expanding=True))
    for start in range(0, len(ids), _AT_ONCE):
        found = connection.execute(asked, {"ids": ids[start : start + _AT_ONCE]})
        rows = [row for ticket in found for row in _rows(*ticket)]
        if rows:
            connection.execute(sa.insert(_CITATIONS), rows)


def _rows(
    ticket_id: str,
    workflow_id: str | None,
    nearest: str | Sequence[dict[str, object]] | None,
    body: str | None,
) -> Iterator[dict[str, object]]:
    steps = json.loads(body)["steps"] if body else []
    near = json.loads(nearest) if isinstance(nearest, str) else nearest or []
    spans = [each for step in steps for each in step.get("citations", ())] if body else near
    keys = ("document_id", "start_line", "end_line")
    for span in dict.fromkeys(tuple(each[key] for key in keys) for each in spans):
        of = {"ticket_id": ticket_id, "workflow_id": workflow_id if body else None}
        yield of | dict(zip(keys, span, strict=True))
