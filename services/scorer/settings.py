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
    judge: bool = Field(
        default=True, description="Let the language model, where there is one, judge candidates."
    )
    likelihood: bool = Field(
        default=True,
        description="Ask the language model how likely each candidate is, where its server tells.",
    )
    deadline_s: float = Field(
        default=30.0,
        gt=0,
        description="Longest that scoring waits for the language model, in seconds; then the "
        "evidence decides alone.",
    )
    ticket_tokens: int = Field(
        default=100_000,
        ge=1,
        description="Tokens that scoring one ticket may take, in and out; then the evidence "
        "decides alone.",
    )
    context_characters: int = Field(
        default=12_000,
        ge=500,
        description="How much of what is known the language model is shown when it scores.",
    )
    judged_together: int = Field(
        default=4, ge=1, le=26, description="Candidates that the judge compares in one call."
    )
    second_pass_gap: float = Field(
        default=1.0,
        ge=0,
        description="The judge is asked again, in reversed order, when its best and worst "
        "candidate, or it and the evidence, are this far apart on the scale of 1 to 5.",
    )
    least_score: float = Field(
        default=2.5,
        ge=1,
        le=5,
        description="Overall score under which no candidate is good enough to be the answer; the "
        "references of the benchmark reach 2.8 at least, 99 of 100 reach 3.5.",
    )
    least_relevance: float = Field(
        default=2.0,
        ge=1,
        le=5,
        description="Relevance under which a candidate is not good enough, however well it reads; "
        "the references of the benchmark reach 2.4 at least.",
    )
