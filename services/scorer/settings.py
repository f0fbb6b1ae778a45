"""Settings of the scorer."""

from enum import StrEnum

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class ShowFirst(StrEnum):
    """Form that is shown first, of a page that a model alone has read."""

    PAGE = "page"
    WORKFLOW = "workflow"


class ScorerSettings(Settings):
    """Settings of the scorer."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SCORER_")

    remembered_vectors: int = Field(
        default=20_000,
        gt=0,
        description="Vectors of sentences and steps kept in memory; 20,000 take about 30 MB.",
    )
    judge: bool = Field(
        default=True,
        description="Let the language model, where there is one, decide what the lines of a page "
        "leave open about candidates.",
    )
    judged_facts: int = Field(
        default=12,
        ge=1,
        description="Questions about lines of pages that the language model is asked for one "
        "ticket; each is asked twice.",
    )
    remembered_answers: int = Field(
        default=10_000,
        gt=0,
        description="Answers of the language model about lines of pages kept in memory.",
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
    show_first: ShowFirst = Field(
        default=ShowFirst.PAGE,
        description="Of a page that a model alone has read, what stands first: `page`, its "
        "checklist, which blind readers accept more (96 of 100 and 75), or `workflow`. What a "
        "person has checked stands first in any case.",
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
