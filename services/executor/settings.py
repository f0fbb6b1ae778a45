"""Settings of the executor."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class ExecutorSettings(Settings):
    """What the executor can be told."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}EXECUTOR_")

    catalogue: Path | None = Field(
        default=None,
        description="Folder with the tools (`tools/*.yaml`), targets (`targets.yaml`) and the "
        "policy (`policy.yaml`) by which workflows are carried out. Unset: every step is a "
        "person's.",
    )
    most_calls: int = Field(
        default=200, ge=1, description="Calls of tools after which a run hands over."
    )
    most_visits: int = Field(
        default=20, ge=1, description="Visits of one step after which a run hands over."
    )
    within_s: float = Field(
        default=21_600.0, gt=0, description="Seconds after which a run hands over."
    )
