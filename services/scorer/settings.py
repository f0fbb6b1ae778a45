"""Settings of the scorer."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class ScorerSettings(Settings):
    """What the scorer can be told."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SCORER_")

    remembered_vectors: int = Field(
        default=20_000,
        gt=0,
        description="Vectors of sentences and steps kept in memory; 20,000 take about 30 MB.",
    )
