"""Settings of retrieval."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class RetrievalSettings(Settings):
    """Settings for the breadth of the search and the size of its answers."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}RETRIEVAL_")

    candidates: int = Field(
        default=40,
        ge=10,
        le=1000,
        description="Points that each search returns by meaning, and as many by words.",
    )
    chunks_per_document: int = Field(
        default=4,
        ge=1,
        description="Most chunks of one document in an answer.",
    )
    nodes_per_document: int = Field(
        default=4,
        ge=1,
        description="Most incident nodes of one document in an answer.",
    )
    max_linked: int = Field(
        default=60,
        ge=0,
        description="Most nodes of linked documents in an answer.",
    )
    pages: int = Field(
        default=8,
        ge=1,
        le=100,
        description="Most documents found whose readings stand in an answer.",
    )
    resolved_cases: int = Field(
        default=2000,
        ge=0,
        le=20_000,
        description="Resolved tickets, the newest, whose pages a ticket like them finds more "
        "easily; 0 for none.",
    )
    alike_from: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Cosine from which a ticket is like a resolved one.",
    )
    linked_pages: int = Field(
        default=12,
        ge=0,
        description="Most readings of linked documents in an answer.",
    )
