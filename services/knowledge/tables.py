"""Tables of the graph and of the documents' text."""

from typing import Any

from sqlalchemy import JSON, Float, ForeignKey, Index, Integer, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base

ID_LENGTH = 1024
"""A document's id is its path; PATH_MAX is longer, but nobody's documents are."""
NAME_LENGTH = 512


class DocumentRow(Base):
    """A document's Markdown and the other fields of `Document`."""

    __tablename__ = "knowledge_document"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    media_type: Mapped[str] = mapped_column(String(200))
    content_hash: Mapped[str] = mapped_column(String(64))
    front_matter: Mapped[dict[str, Any]] = mapped_column(JSON)
    screening: Mapped[str | None] = mapped_column(String(16))
    """Id of the screening that made `screened`, from text and version; see `screening_id`."""
    screened: Mapped[str | None] = mapped_column(Text)
    """The usable text; None if nothing was removed."""
    text_hash: Mapped[str | None] = mapped_column(String(64), index=True)
    """Hash of the usable text; None if the row is older than this column."""


class NodeRow(Base):
    """A node in its merged form, made again whenever one of its parts changes."""

    __tablename__ = "knowledge_node"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    merged: Mapped[str] = mapped_column(Text)
    """The `IncidentNode` as JSON."""


class PartRow(Base):
    """The contribution of one document to one node."""

    __tablename__ = "knowledge_part"

    node_id: Mapped[str] = mapped_column(
        ForeignKey("knowledge_node.id", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True, index=True)
    position: Mapped[int] = mapped_column(Integer)
    """Place among the document's nodes."""
    part: Mapped[str] = mapped_column(Text)
    """The document's `IncidentNode` as JSON."""


class NameRow(Base):
    """A name or alias of a node as it is compared: lower case, letters and digits only."""

    __tablename__ = "knowledge_name"

    name: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    node_id: Mapped[str] = mapped_column(
        ForeignKey("knowledge_node.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class LinkRow(Base):
    """A node's link to a document. The nodes of that document are its neighbours."""

    __tablename__ = "knowledge_link"
    __table_args__ = (Index("ix_knowledge_link_document_id", "document_id"),)

    node_id: Mapped[str] = mapped_column(
        ForeignKey("knowledge_node.id", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    position: Mapped[int] = mapped_column(Integer)


class SymptomTextRow(Base):
    """A text as people with the fault of a page write it, made by a model; see `SymptomTexts`."""

    __tablename__ = "knowledge_said"

    text_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Hash of the page's usable text."""
    place: Mapped[int] = mapped_column(Integer, primary_key=True)
    text: Mapped[str] = mapped_column(Text)
    """Searched and never shown: no line of the page says it."""
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    """Embedding of the text: float32, little-endian."""
    model: Mapped[str] = mapped_column(String(NAME_LENGTH))
    """Model of the embedding."""
    version: Mapped[str] = mapped_column(String(36), index=True)
    """Sorts by the time it was written."""


class CaseRow(Base):
    """A past ticket and the team that took it."""

    __tablename__ = "knowledge_case"
    __table_args__ = (Index("ix_knowledge_case_at", "at", "id"),)

    id: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    text: Mapped[str] = mapped_column(Text)
    team: Mapped[str] = mapped_column(String(NAME_LENGTH), index=True)
    at: Mapped[float] = mapped_column(Float)
    version: Mapped[str] = mapped_column(String(36), index=True)
    """Sorts by the time it was written."""


class CaseEntityRow(Base):
    """An entity that a past ticket mentions."""

    __tablename__ = "knowledge_case_entity"

    case_id: Mapped[str] = mapped_column(
        ForeignKey("knowledge_case.id", ondelete="CASCADE"), primary_key=True
    )
    entity: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True, index=True)
    times: Mapped[int] = mapped_column(Integer)


class ResolvedCaseRow(Base):
    """A resolved ticket of a page. It goes with its document, and stays if that is re-ingested."""

    __tablename__ = "knowledge_resolved_case"
    __table_args__ = (Index("ix_knowledge_resolved_case_at", "document_id", "at"),)

    id: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    document_id: Mapped[str] = mapped_column(
        ForeignKey("knowledge_document.id", ondelete="CASCADE")
    )
    title: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    told: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Float)
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    """The embedding of its title and text: float32, little-endian."""
    model: Mapped[str] = mapped_column(String(NAME_LENGTH))
    """Model of the embedding."""
    version: Mapped[str] = mapped_column(String(36), index=True)
    """Sorts by the time it was written."""
