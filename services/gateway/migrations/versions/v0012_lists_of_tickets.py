"""Lists of tickets: an index without texts, and the teams that sources name."""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_LIST = "ix_gateway_ticket_list"
_TEAM = "gateway_ticket_team"
_LONGEST_TEAM = 200
_AT_ONCE = 1000


def upgrade() -> None:
    """To this revision. What stands in the index is cut to what fits there."""
    op.execute("UPDATE gateway_ticket SET severity = substr(severity, 1, 60)")
    op.execute("UPDATE gateway_ticket SET service = substr(service, 1, 200)")
    columns = ["id", "status", "severity", "source", "service", "fit", "resolved_at"]
    op.create_index(_LIST, "gateway_ticket", columns)
    made = op.create_table(
        _TEAM,
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "team"),
    )
    op.create_index("ix_gateway_ticket_team_team", _TEAM, ["team", "ticket_id"])
    for rows in _teams():
        op.bulk_insert(made, rows)


def downgrade() -> None:
    """Back to the revision before; tickets keep their teams."""
    op.drop_table(_TEAM)
    op.drop_index(_LIST, "gateway_ticket")


def _teams() -> Iterator[list[dict[str, Any]]]:
    ticket = sa.table("gateway_ticket", sa.column("id"), sa.column("teams", sa.JSON))
    found = op.get_bind().execute(sa.select(ticket.c.id, ticket.c.teams)).all()
    rows = [
        {"ticket_id": ticket_id, "team": team}
        for ticket_id, teams in found
        for team in sorted({name[:_LONGEST_TEAM] for name in teams or ()})
    ]
    for begin in range(0, len(rows), _AT_ONCE):
        yield rows[begin : begin + _AT_ONCE]
