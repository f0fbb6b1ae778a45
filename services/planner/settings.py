"""Settings of the planner."""

from enum import StrEnum

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class AskModel(StrEnum):
    """Policy for which tickets the model writes workflows."""

    NEVER = "never"
    UNREAD = "unread"
    """Tickets whose best page has no reading."""
    UNCHECKED = "unchecked"
    """Tickets whose best page has no approved procedure for them."""
    ALWAYS = "always"


class PlannerSettings(Settings):
    """Number of workflows that compete for a ticket, and the model's limits."""

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
        description="Most workflows that the planner without a model gives.",
    )
    ask_model: AskModel = Field(
        default=AskModel.UNCHECKED,
        description="When the model writes workflows: `never`; `unread`: where nobody has read the "
        "best page; `unchecked`: where nobody has approved what it tells; `always`.",
    )
    samples: int = Field(
        default=3, ge=1, le=16, description="Workflows that the model writes for a ticket (N)."
    )
    temperature: float = Field(
        default=1.0, ge=0, le=2, description="How freely the model writes; the paper's value is 1."
    )
    max_tokens: int = Field(
        default=8192, ge=64, description="Most tokens of one workflow that the model writes."
    )
    max_steps: int = Field(
        default=60, ge=3, le=120, description="Most steps of a workflow that the model writes."
    )
    page_tokens: int = Field(
        default=12_000,
        ge=200,
        description="Tokens up to which the model is shown the best page whole, about; of a longer "
        "one it sees the parts near what was found.",
    )
    context_tokens: int = Field(
        default=3000,
        ge=0,
        description="Tokens of passages of other pages that the model is shown, about.",
    )
    corrections: int = Field(
        default=2,
        ge=0,
        le=5,
        description="Times that the model sees its workflow drawn, with what is wrong in it, and "
        "may write it again.",
    )
    deadline_s: float = Field(
        default=90.0,
        gt=0,
        description="Seconds for the model; what it has not finished then takes no part.",
    )
    ticket_tokens: int = Field(
        default=200_000, gt=0, description="Tokens, in and out, that one ticket's plans may cost."
    )
    ticket_cost: float | None = Field(
        default=None,
        gt=0,
        description="Money that one ticket's plans may cost, by FLOWXPERT_MODEL_PRICE_IN and _OUT; "
        "unset: no limit.",
    )
    seed: int | None = Field(
        default=None, description="Seed of the model's samples; unset: another one each time."
    )
    compose_components: int = Field(
        default=15,
        ge=1,
        le=100,
        description="Components of the catalogue that the model is shown for an instruction, the "
        "nearest ones.",
    )
    compose_deadline_s: float = Field(
        default=120.0,
        gt=0,
        le=150,
        description="Seconds for composing, or for understanding an edit in words, with a model.",
    )
    compose_temperature: float = Field(
        default=0.2, ge=0, le=2, description="How freely the model composes and edits."
    )
