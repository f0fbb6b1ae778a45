"""People, their sessions, and sign-ins on their way."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.String(length=255), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("first_at", sa.Float(), nullable=False),
        sa.Column("latest_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("issuer", "subject", name="uq_person_subject"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "session",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("key_prefix", sa.String(length=12), nullable=True),
        sa.Column("key_hash", sa.LargeBinary(), nullable=True),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.Column("used_at", sa.Float(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index("ix_session_expires_at", "session", ["expires_at"])
    op.create_table(
        "sign_in",
        sa.Column("state", sa.String(length=64), nullable=False),
        sa.Column("browser", sa.String(length=64), nullable=False),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("verifier", sa.String(length=64), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("leads_to", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("state"),
    )
    op.create_index("ix_sign_in_expires_at", "sign_in", ["expires_at"])


def downgrade() -> None:
    """Back to the revision before."""
    op.drop_table("sign_in")
    op.drop_table("session")
    op.drop_table("person")
