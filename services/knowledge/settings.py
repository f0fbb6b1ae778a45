"""Settings of the engines that keep knowledge."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class QdrantSettings(Settings):
    """Search and storage of a Qdrant server; changes are applied when a process starts."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}QDRANT_")

    hnsw_m: int = Field(
        default=16,
        ge=4,
        le=128,
        description="Links of a point in the search graph: more find more and take more memory.",
    )
    hnsw_ef_construct: int = Field(
        default=128,
        ge=4,
        description="Candidates looked at when a point is linked: more find more, later.",
    )
    hnsw_ef: int = Field(
        default=128, ge=4, description="Candidates looked at by a search, at least."
    )
    quantised: bool = Field(
        default=False,
        description="Whether searches go over vectors of 8 bits in memory, with the exact ones on "
        "disk for the last comparison: a quarter of the memory, worth it from a million points.",
    )
