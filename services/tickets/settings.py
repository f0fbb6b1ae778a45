"""Settings of the gateway."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class GatewaySettings(Settings):
    """Settings of the gateway: limits of intake, walks, questions, triage and lists."""

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
    cut_long_texts: bool = Field(
        default=False,
        description="Whether longer titles, descriptions and labels are cut, instead of being "
        "answered 413. What identifies a ticket is never cut.",
    )
    repeats_within_s: float = Field(
        default=1800.0,
        ge=0,
        description="Seconds in which the same alert again is counted on the ticket of the last "
        "one, instead of making another; 0: never.",
    )
    source_per_minute: float = Field(
        default=12_000.0,
        ge=0,
        description="Most alerts a minute from one ticket system, and as many at once; more are "
        "answered 429. 0: no limit.",
    )
    source_rates: dict[str, float] = Field(
        default={},
        description='The same for single systems, as JSON: `{"zabbix": 600}`.',
    )
    max_waiting: int = Field(
        default=100_000,
        gt=0,
        description="Most unfinished tasks, those of tickets that wait for their walk above all; "
        "with more, new tickets are answered 429.",
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
    degrade_after_s: float = Field(
        default=30.0,
        ge=0,
        description="Seconds for which a ticket waits for a store or the scorer that does not "
        "answer; then it gets what can be made without, and says so.",
    )
    catch_up_after_s: float = Field(
        default=300.0,
        gt=0,
        description="Seconds after which a ticket that went on without something is walked again, "
        "unless somebody worked with it; twice as long before each further time.",
    )
    catch_up_most: int = Field(
        default=3, ge=0, description="How often such a ticket is walked again; 0 for never."
    )
    event_poll_s: float = Field(
        default=0.25,
        gt=0,
        description="Seconds between looks at the database while a request waits or watches.",
    )
    keep_days: float | None = Field(
        default=None,
        gt=0,
        description="Days after its last change for which a concluded ticket is kept, with its "
        "workflows and events. Unset: for ever.",
    )
    archive_resolved: bool = Field(
        default=True,
        description="Whether resolved tickets become typical cases of the pages that helped, by "
        "which tickets like them find these pages more easily.",
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
    choose_page: bool = Field(
        default=True,
        description="Whether a language model, where one is set, compares the nearest pages behind "
        "each walk; the workflow never waits for it.",
    )
    choose_page_within_s: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that the model may take to choose the page.",
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
    triage_sure_from: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="Chance from which a team is taken without a second look.",
    )
    triage_abstain_below: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Chance under which no team is named and a person chooses.",
    )
    triage_history: int = Field(
        default=3000,
        ge=0,
        le=10_000,
        description="Past tickets that triage learns from: the newest. 4000 take some 10 seconds "
        "and 500 MB to learn; 0 switches triage off.",
    )
    triage_learn_every_s: float = Field(
        default=300.0,
        ge=0,
        description="Seconds after learning in which new past tickets wait to be learned.",
    )
    teams_file: Path | None = Field(
        default=None,
        description="YAML list of teams, each with `name` and `description`, read at start. Teams "
        "of the API come on top.",
    )
