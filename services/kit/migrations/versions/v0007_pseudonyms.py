"""Audit lines in which a pseudonym may take the place of a person, and none that has their words.

Reasons for approvals, and names of proposed pages, which are made of their titles, stood in them.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_STAYS = ("id", "at", "kind", "action", "request_id")
_NAMES = ("who", "caller_id")
_SAYS = "the audit log is append only"
_WITHOUT_WORDS_ON_SQLITE = (
    "UPDATE audit SET after = json_remove(after, '$.why') WHERE action LIKE 'run.%'",
    "UPDATE audit SET after = json_remove(after, '$.document') WHERE action LIKE 'proposal.%'",
)
_WITHOUT_WORDS_ON_POSTGRESQL = (
    "UPDATE audit SET after = (after::jsonb - 'why')::json WHERE action LIKE 'run.%'",
    "UPDATE audit SET after = (after::jsonb - 'document')::json WHERE action LIKE 'proposal.%'",
)


def upgrade() -> None:
    """To this revision: no line is deleted, and of one that is changed the act and time stay."""
    stays = " AND ".join(f"NEW.{name} = OLD.{name}" for name in _STAYS)
    names = " AND ".join(_may_change(name) for name in _NAMES)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_keeps_update")
        op.execute(
            "CREATE TRIGGER audit_keeps_update BEFORE UPDATE ON audit"
            f" WHEN NOT ({stays} AND {names}) BEGIN SELECT RAISE(ABORT, '{_SAYS}'); END"
        )
        for statement in _WITHOUT_WORDS_ON_SQLITE:
            op.execute(statement)
        return
    op.execute("DROP TRIGGER audit_keeps ON audit")
    op.execute(
        "CREATE TRIGGER audit_keeps BEFORE DELETE OR TRUNCATE ON audit"
        " FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()"
    )
    op.execute(
        "CREATE TRIGGER audit_keeps_lines BEFORE UPDATE ON audit FOR EACH ROW"
        f" WHEN (NOT ({stays} AND {names})) EXECUTE FUNCTION audit_is_append_only()"
    )
    for statement in _WITHOUT_WORDS_ON_POSTGRESQL:
        op.execute(statement)


def _may_change(name: str) -> str:
    """Return the condition that a column stays, or becomes a pseudonym."""
    return f"(NEW.{name} = OLD.{name} OR NEW.{name} LIKE '%forgotten-%')"
