"""Settings of the gateway."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class GatewaySettings(Settings):
    """What the gateway takes in, and how it shows it."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}GATEWAY_")

    max_alerts: int = Field(
        default=1000, gt=0, description="Most alerts in one delivery; more are answered 413."
    )
    max_title_characters: int = Field(
        default=1000, gt=0, description="Longest title of a ticket; a longer one is answered 413."
    )
    max_description_characters: int = Field(
        default=50_000,
        gt=0,
        description="Longest description of a ticket; a longer one is answered 413.",
    )
    max_labels: int = Field(
        default=200, gt=0, description="Most labels of a ticket; more are answered 413."
    )
    max_label_characters: int = Field(
        default=4000,
        gt=0,
        description="Longest name or value of a label; a longer one is answered 413.",
    )
    max_wait_s: float = Field(
        default=60.0,
        ge=0,
        description="Longest time, in seconds, that `?wait=` holds a request; more is cut to this.",
    )
    model_within_s: float = Field(
        default=120.0,
        ge=0,
        description="Seconds after its arrival in which a language model may work on a ticket. One "
        "that had to wait longer, as in a storm of alerts, gets the workflows that need no model.",
    )
    event_poll_s: float = Field(
        default=0.25,
        gt=0,
        description="Seconds between looks at the database while a request waits or watches.",
    )
    page_size: int = Field(
        default=50, ge=1, le=500, description="Tickets in a list that asks for no number."
    )
    context_lines: int = Field(
        default=8, ge=0, le=200, description="Lines shown before and after a cited passage."
    )
    clarify_most: int = Field(
        default=3,
        ge=0,
        le=20,
        description="Most questions that a ticket's engineer is asked, one after the other; 0 for "
        "none. The first workflow never waits for an answer.",
    )
    clarify_least_gain: float = Field(
        default=0.5,
        ge=0,
        description="Steps of the workflow that an answer must be expected to spare to be asked "
        "for.",
    )
    clarify_within_s: float = Field(
        default=20.0,
        gt=0,
        description="Seconds that a language model may take to choose and word a question; the "
        "question is asked in the page's words until then, and stays so when it takes longer.",
    )
    sure_from: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Chance of treating the very fault from which a procedure surely fits. Unset: "
        "the fitted threshold.",
    )
    unsure_from: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Chance from which the closest procedure is shown, marked as not sure. Unset: "
        "the fitted threshold.",
    )
    nearest_documents: int = Field(
        default=5,
        ge=0,
        le=50,
        description="How many of the closest passages are kept for a ticket that nothing fits.",
    )
