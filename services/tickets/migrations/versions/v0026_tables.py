"""All tables of `gateway`, as release v0.1.0-alpha.1 has them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0026"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "gateway_digest",
        sa.Column("week", sa.String(length=10), nullable=False),
        sa.Column("target", sa.String(length=40), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("told", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("week", "target"),
    )
    op.create_table(
        "gateway_dismissed",
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "gateway_idempotency",
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "gateway_page_choice",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("stated", sa.Float(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("chosen_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index(
        "ix_gateway_page_choice_chosen_at", "gateway_page_choice", ["model", "chosen_at"]
    )
    op.create_table(
        "gateway_page_word",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=200), nullable=False),
        sa.Column("is_taken", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("ix_gateway_page_word_family", "gateway_page_word", ["family"])
    op.create_table(
        "gateway_team",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "gateway_ticket",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("external_id", sa.String(length=400), nullable=False),
        sa.Column("occurrence", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("alert_name", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("nearest", sa.JSON(), nullable=False),
        sa.Column("workflow_id", sa.String(length=36), nullable=True),
        sa.Column("overall", sa.Float(), nullable=True),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("resolved_at", sa.Float(), nullable=True),
        sa.Column("fit", sa.String(length=10), nullable=True),
        sa.Column("against", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("service", sa.Text(), server_default="", nullable=False),
        sa.Column("teams", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("walks", sa.Integer(), server_default="1", nullable=False),
        sa.Column("fingerprint", sa.String(length=32), server_default="", nullable=False),
        sa.Column("family", sa.String(length=32), server_default="", nullable=False),
        sa.Column("alerts", sa.Integer(), server_default="1", nullable=False),
        sa.Column("last_at", sa.Float(), server_default="0", nullable=False),
        sa.Column("began_at", sa.Float(), nullable=True),
        sa.Column("degraded", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("asks", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("is_checked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("edited_by", sa.String(length=200), server_default="", nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=True),
        sa.Column("holder_id", sa.String(length=600), nullable=True),
        sa.Column("held_at", sa.Float(), nullable=True),
        sa.Column("conditions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("doubtful", sa.Integer(), server_default="0", nullable=False),
        sa.Column("better_page", sa.Text(), server_default="", nullable=False),
        sa.Column("page_origin", sa.String(length=100), server_default="", nullable=False),
        sa.Column("runbook_url", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.String(length=20), server_default="procedure", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_gateway_ticket_family", "gateway_ticket", ["family", "id"])
    op.create_index("ix_gateway_ticket_fingerprint", "gateway_ticket", ["fingerprint", "id"])
    op.create_index("ix_gateway_ticket_holder", "gateway_ticket", ["holder_id", "id"])
    op.create_index(
        "ix_gateway_ticket_list",
        "gateway_ticket",
        ["id", "status", "severity", "source", "service", "fit", "resolved_at"],
    )
    op.create_index("ix_gateway_ticket_service", "gateway_ticket", ["service", "id"])
    op.create_index("ix_gateway_ticket_source", "gateway_ticket", ["source", "id"])
    op.create_index("ix_gateway_ticket_status", "gateway_ticket", ["status", "id"])
    op.create_table(
        "gateway_alert",
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("external_id", sa.String(length=400), nullable=False),
        sa.Column("occurrence", sa.String(length=100), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=True),
        sa.Column("came_at", sa.Float(), nullable=False),
        sa.Column("over_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ticket_id"],
            ["gateway_ticket.id"],
            ondelete="CASCADE",
            initially="DEFERRED",
            deferrable=True,
        ),
        sa.PrimaryKeyConstraint("source", "external_id", "occurrence"),
    )
    op.create_index("ix_gateway_alert_ticket", "gateway_alert", ["ticket_id"])
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
        sa.Column("said", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("answered_by", sa.String(length=200), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_gateway_clarification_turn", "gateway_clarification", ["ticket_id", "turn"], unique=True
    )
    op.create_table(
        "gateway_comment",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "id"),
    )
    op.create_table(
        "gateway_event",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_gateway_event_ticket", "gateway_event", ["ticket_id", "id"])
    op.create_table(
        "gateway_left_behind",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_gateway_left_behind_ticket", "gateway_left_behind", ["ticket_id", "id"])
    op.create_table(
        "gateway_linked_mark",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("document_id", sa.String(length=1024), nullable=False),
        sa.Column("box", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("seen_by", sa.String(length=200), nullable=False),
        sa.Column("marked_by", sa.String(length=200), nullable=False),
        sa.Column("marked_at", sa.Float(), nullable=True),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "document_id", "box"),
    )
    op.create_table(
        "gateway_served",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("is_alert", sa.Boolean(), nullable=False),
        sa.Column("pages", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id"),
    )
    op.create_table(
        "gateway_ticket_team",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "team"),
    )
    op.create_index("ix_gateway_ticket_team_team", "gateway_ticket_team", ["team", "ticket_id"])
    op.create_table(
        "gateway_told",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("target", sa.String(length=40), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("digests", sa.JSON(), nullable=False),
        sa.Column("question_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id", "target"),
    )
    op.create_table(
        "gateway_triage",
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=True),
        sa.Column("by", sa.String(length=10), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("ticket_id"),
    )
    op.create_table(
        "gateway_workflow",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("ticket_id", sa.String(length=36), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("planner", sa.String(length=100), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("seconds", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("fit", sa.String(length=10), server_default="sure", nullable=False),
        sa.Column("against", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("walk", sa.Integer(), server_default="1", nullable=False),
        sa.Column("candidate_id", sa.String(length=36), nullable=True),
        sa.Column("base_id", sa.String(length=36), nullable=True),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("author", sa.String(length=200), server_default="", nullable=False),
        sa.Column("is_checked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("conditions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("doubtful", sa.Integer(), server_default="0", nullable=False),
        sa.Column("page_origin", sa.String(length=100), server_default="", nullable=False),
        sa.Column("kind", sa.String(length=20), server_default="procedure", nullable=False),
        sa.ForeignKeyConstraint(["ticket_id"], ["gateway_ticket.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_gateway_workflow_rank", "gateway_workflow", ["ticket_id", "walk", "rank"], unique=True
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
        sa.Column("did", sa.Integer(), nullable=True),
        sa.Column("had", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["candidate_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("candidate_id"),
    )
    op.create_index("ix_gateway_adoption_worked_at", "gateway_adoption", ["worked_at"])
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
    op.create_index(
        "ix_gateway_citation_document", "gateway_citation", ["document_id", "ticket_id"]
    )
    op.create_index("ix_gateway_citation_ticket", "gateway_citation", ["ticket_id"])
    op.create_index("ix_gateway_citation_workflow", "gateway_citation", ["workflow_id"])
    op.create_table(
        "gateway_mark",
        sa.Column("candidate_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=400), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("seen", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=True),
        sa.Column("marked_by", sa.String(length=200), nullable=False),
        sa.Column("marked_at", sa.Float(), nullable=True),
        sa.Column("verdict", sa.String(length=10), nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("judged_by", sa.String(length=200), nullable=False),
        sa.Column("judged_at", sa.Float(), nullable=True),
        sa.Column("told", sa.JSON(), nullable=True),
        sa.Column("seen_by", sa.String(length=200), nullable=True),
        sa.Column("from_candidate", sa.String(length=36), nullable=True),
        sa.Column("from_step", sa.String(length=400), nullable=True),
        sa.Column("from_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["candidate_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("candidate_id", "step_id"),
    )
    op.create_table(
        "gateway_score",
        sa.Column("workflow_id", sa.String(length=36), nullable=False),
        sa.Column("overall", sa.Float(), nullable=False),
        sa.Column("relevance", sa.Float(), nullable=False),
        sa.Column("coverage", sa.Float(), nullable=False),
        sa.Column("accuracy", sa.Float(), nullable=False),
        sa.Column("coherence", sa.Float(), nullable=False),
        sa.Column("conciseness", sa.Float(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["workflow_id"], ["gateway_workflow.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("workflow_id"),
    )
