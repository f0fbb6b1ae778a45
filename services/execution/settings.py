"""Settings of the executor."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class ExecutorSettings(Settings):
    """Settings of the executor."""

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


class SearchSettings(Settings):
    """Limits at which a search for a cause ends by itself."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SEARCH_")

    depth: int = Field(
        default=6, ge=1, le=20, description="Looks of a search that one rests on another."
    )
    width: int = Field(
        default=6, ge=1, le=20, description="Looks of a search from one and the same point."
    )
    calls: int = Field(
        default=30, ge=1, description="Looks of a search, into documents too, after which it ends."
    )
    questions: int = Field(
        default=90, ge=1, description="Questions to the model after which a search ends."
    )
    tokens: int = Field(
        default=300_000, ge=1, description="Tokens, in and out, after which a search ends."
    )
    within_s: float = Field(default=1800.0, gt=0, description="Seconds after which a search ends.")
    silences: int = Field(
        default=6,
        ge=1,
        description="Questions in a row that the model did not answer, after which a search ends.",
    )
    answer_within_s: float = Field(
        default=120.0, gt=0, description="Seconds that the model has for one answer of a search."
    )
    answer_tokens: int = Field(
        default=1500, ge=100, description="Most tokens of one answer in a search."
    )
