"""What the step of an approved binding says, so that it can be found again on its page."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_WORKFLOWS = "gateway_workflow"
"""Where bindings were approved at. It is another room's and only read; a database of the executor's
own has none, and its bindings stay nameless."""
_BODY_AT_ONCE = 100
_KEPT = ("id", "kind", "text", "commands", "citations")

_BINDING = sa.table(
    "executor_binding",
    sa.column("step_key", sa.String),
    sa.column("by", sa.String),
    sa.column("document_id", sa.String),
    sa.column("step", sa.JSON),
)


def upgrade() -> None:
    """To this revision."""
    with op.batch_alter_table("executor_binding", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("document_id", sa.String(length=1024), nullable=False, server_default="")
        )
        batch_op.add_column(sa.Column("step", sa.JSON(), nullable=True))
        batch_op.add_column(
            sa.Column("instead_of", sa.String(length=64), nullable=False, server_default="")
        )
        batch_op.create_index(
            batch_op.f("ix_executor_binding_document_id"), ["document_id"], unique=False
        )
    with op.batch_alter_table("executor_binding", schema=None) as batch_op:
        batch_op.alter_column("document_id", server_default=None)
        batch_op.alter_column("instead_of", server_default=None)
    connection = op.get_bind()
    is_approved = _BINDING.c.by != ""
    waiting = set(connection.scalars(sa.select(_BINDING.c.step_key).where(is_approved)))
    if not waiting or not sa.inspect(connection).has_table(_WORKFLOWS):
        return
    for key, step in _steps(connection):
        if key in waiting:
            waiting.discard(key)
            values = {"document_id": step["citations"][0]["document_id"], "step": step}
            mine = _BINDING.c.step_key == key
            connection.execute(_BINDING.update().where(mine).values(**values))
        if not waiting:
            return


def downgrade() -> None:
    """To the revision before."""
    with op.batch_alter_table("executor_binding", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_executor_binding_document_id"))
        for name in ("instead_of", "step", "document_id"):
            batch_op.drop_column(name)


def _steps(connection: sa.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cited steps of all workflows, the latest first, by the keys that bindings have."""
    workflow = sa.table(_WORKFLOWS, sa.column("id", sa.String), sa.column("body", sa.Text))
    ids = list(connection.scalars(sa.select(workflow.c.id).order_by(workflow.c.id.desc())))
    for start in range(0, len(ids), _BODY_AT_ONCE):
        some = workflow.c.id.in_(ids[start : start + _BODY_AT_ONCE])
        for body in connection.scalars(sa.select(workflow.c.body).where(some)).all():
            drawn = json.loads(body)
            for step in drawn["steps"]:
                kept = {"commands": [], **{n: step[n] for n in _KEPT if n in step}}
                if kept.get("citations"):
                    yield _key(kept, drawn.get("transitions", [])), kept


def _key(step: dict[str, Any], edges: list[dict[str, Any]]) -> str:
    """The key of a step as bindings have it, at this revision."""
    cited = [[c["document_id"], c["start_line"], c["end_line"]] for c in step["citations"]]
    exits = {edge.get("condition", "") for edge in edges if edge["source"] == step["id"]}
    parts = [step["kind"], step["text"], step["commands"], cited, sorted(exits)]
    plain = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()
