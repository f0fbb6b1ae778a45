"""Settings of the language model: where it runs, and what it may cost."""

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class ModelSettings(Settings):
    """The model that planner, scorer and ingestion share; without one the platform works too."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}MODEL_", protected_namespaces=())

    url: str | None = Field(
        default=None,
        description="Any server that speaks OpenAI's chat API, as http://host:8000/v1; vLLM in "
        "production. Unset, and no GGUF either: no model.",
    )
    name: str = Field(
        default="",
        description="The model's name on that server, or the name of a LoRA adapter there.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="Key of that server, where it asks for one."
    )
    gguf: str | None = Field(
        default=None,
        description="Model for llama.cpp in this process: a GGUF file, or owner/repository/file "
        "on the hub, downloaded once.",
    )
    hard_json: bool = Field(
        default=True,
        description="Whether the server enforces the answer's schema; switch it off for a model "
        "that this hurts, its answers are then read tolerantly.",
    )
    prompt_logprobs: bool = Field(
        default=False,
        description="Whether the server tells log-probabilities of a prompt, as vLLM does; the "
        "scorer uses them.",
    )
    seeded: bool = Field(
        default=True,
        description="Whether requests may carry a seed; some builds of vLLM for CPUs "
        "break down on one.",
    )
    timeout_s: float = Field(
        default=120.0, gt=0, description="Longest a call may take, in seconds."
    )
    tries: int = Field(default=3, ge=1, le=10, description="Tries of a call that was not answered.")
    in_flight: int = Field(
        default=8, ge=1, description="Calls at once; a further one waits its turn."
    )
    pause_s: float = Field(
        default=15.0,
        gt=0,
        description="Seconds for which a model that failed five times in a row is left alone.",
    )
    price_in: float = Field(
        default=0.0, ge=0, description="Price of a million tokens of prompt, in any currency."
    )
    price_out: float = Field(
        default=0.0, ge=0, description="Price of a million tokens of answer, in the same currency."
    )
    context_tokens: int = Field(
        default=8192,
        gt=0,
        description="llama.cpp only: tokens of prompt and answer together.",
    )
    threads: int = Field(
        default=0, ge=0, description="llama.cpp only: its threads; 0 leaves one core to others."
    )

    @property
    def is_set(self) -> bool:
        """True if a model is configured."""
        return bool(self.url or self.gguf)
