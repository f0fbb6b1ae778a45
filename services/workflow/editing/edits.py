"""Edits that a person makes to a workflow; nothing is changed in place."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from services.kit.text import clean_text

MOST_TEXT = 2_000
MOST_LINES = 50


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def _some_words(text: str) -> str:
    line = _one_line(text)
    if not line:
        raise ValueError("expected some words")
    return line


def _lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(kept for line in lines if (kept := clean_text(line).strip()))


Line = Annotated[str, Field(max_length=MOST_TEXT), AfterValidator(_one_line)]
Words = Annotated[str, Field(max_length=MOST_TEXT), AfterValidator(_some_words)]
Lines = Annotated[
    tuple[Annotated[str, Field(max_length=MOST_TEXT)], ...],
    Field(max_length=MOST_LINES),
    AfterValidator(_lines),
]
StepId = Annotated[str, Field(min_length=1, max_length=400)]


class _Edit(BaseModel):
    """Base of the edits: compared by content, unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ChangeStep(_Edit):
    """Reword a step; fields that are None stay unchanged."""

    edit: Literal["change"] = "change"
    step: StepId
    text: Words | None = None
    commands: Lines | None = None
    notes: Lines | None = None


class ChangeBranch(_Edit):
    """Give an exit of a step another condition or target; fields that are None stay unchanged."""

    edit: Literal["branch"] = "branch"
    step: StepId
    condition: str = Field(default="", max_length=MOST_TEXT)
    """Condition of the exit to change."""
    new_condition: Line | None = None
    new_target: StepId | None = None


class AddStep(_Edit):
    """Add an action after a step."""

    edit: Literal["add"] = "add"
    after: StepId
    condition: str = Field(default="", max_length=MOST_TEXT)
    """Condition of the exit that the step is added to, if there are several exits."""
    text: Words
    commands: Lines = ()
    notes: Lines = ()


class RemoveStep(_Edit):
    """Remove a step; its predecessors lead on to what followed it."""

    edit: Literal["remove"] = "remove"
    step: StepId


Edit = Annotated[
    ChangeStep | ChangeBranch | AddStep | RemoveStep,
    Field(discriminator="edit"),
]
