"""What an approval is for: a checklist, or a workflow."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_APPROVAL = sa.table(
    "procedure_approval",
    sa.column("id", sa.Integer),
    sa.column("text_hash", sa.String),
    sa.column("procedure", sa.JSON),
    sa.column("kind", sa.String),
)
_TEXT = sa.table(
    "procedure_text", sa.column("text_hash", sa.String), sa.column("checklists", sa.Integer)
)
_HISTORY = sa.table(
    "procedure_history",
    sa.column("id", sa.Integer),
    sa.column("before", sa.JSON(none_as_null=True)),
)


def upgrade() -> None:
    """To this revision: whoever approved a procedure begun from boxes approved the boxes alone."""
    op.add_column(
        "procedure_approval",
        sa.Column("kind", sa.String(length=20), server_default="workflow", nullable=False),
    )
    op.add_column(
        "procedure_text", sa.Column("checklists", sa.Integer(), server_default="0", nullable=False)
    )
    connection = op.get_bind()
    approvals = connection.execute(
        sa.select(_APPROVAL.c.id, _APPROVAL.c.text_hash, _APPROVAL.c.procedure)
    )
    for id_, text_hash, procedure in approvals.all():
        if procedure.get("begun_from_boxes"):
            mine = sa.update(_APPROVAL).where(_APPROVAL.c.id == id_)
            connection.execute(mine.values(kind="checklist"))
            of_text = sa.update(_TEXT).where(_TEXT.c.text_hash == text_hash)
            connection.execute(of_text.values(checklists=_TEXT.c.checklists + 1))
    undoable = sa.select(_HISTORY.c.id, _HISTORY.c.before).where(_HISTORY.c.before.is_not(None))
    for id_, before in connection.execute(undoable).all():
        if _name_checklists(before):
            of_event = sa.update(_HISTORY).where(_HISTORY.c.id == id_)
            connection.execute(of_event.values(before=before))


def _name_checklists(before: dict[str, Any]) -> bool:
    """Name the kind of approvals of procedures begun from boxes; return True if there are any."""
    approvals = [
        each["approval"]
        for each in before.get("approved", ())
        if each["procedure"].get("begun_from_boxes")
    ]
    for approval in approvals:
        approval["kind"] = "checklist"
    return bool(approvals)
