"""Settings of the planner."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class PlannerSettings(Settings):
    """How many workflows compete for a ticket."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}PLANNER_")

    documents: int = Field(
        default=3,
        ge=1,
        le=20,
        description="Documents that workflows are read from, the most relevant ones.",
    )
    candidates: int = Field(
        default=4,
        ge=1,
        le=20,
        description="Most workflows in an answer.",
    )
