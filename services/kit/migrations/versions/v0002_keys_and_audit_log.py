"""Keys and audit log."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_ON_SQLITE = [
    f"CREATE TRIGGER audit_keeps_{event} BEFORE {event} ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log is append only'); END"
    for event in ("update", "delete")
]
_ON_POSTGRESQL = [
    """CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is append only'; END $$""",
    """CREATE TRIGGER audit_keeps BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()""",
]


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "api_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("prefix", sa.String(length=12), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("created_by", sa.String(length=200), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=True),
        sa.Column("revoked_at", sa.Float(), nullable=True),
        sa.Column("last_used_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sa.UniqueConstraint("prefix"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("caller_id", sa.String(length=400), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=400), nullable=False),
        sa.Column("before", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("after", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index("ix_audit_subject", ["subject", "id"], unique=False)
        batch_op.create_index("ix_audit_who", ["who", "id"], unique=False)
    for statement in _ON_SQLITE if _is_sqlite() else _ON_POSTGRESQL:
        op.execute(statement)


def downgrade() -> None:
    """Back to the revision before."""
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index("ix_audit_who")
        batch_op.drop_index("ix_audit_subject")

    op.drop_table("audit")
    if not _is_sqlite():
        op.execute("DROP FUNCTION audit_is_append_only()")
    op.drop_table("api_key")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
