"""Settings of retrieval."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class RetrievalSettings(Settings):
    """How wide retrieval looks, and when it says that nothing fits."""

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
    fits_from: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Confidence from which something known fits the ticket. Unset: the calibrated "
        "threshold.",
    )
