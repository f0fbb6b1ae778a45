"""Adoption: what engineers do with the workflow of a ticket, and think of it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, computed_field

from services.kit.text import clean_text
from services.kit.value import Value
from services.workflow.editing.changes import StepChange
from services.workflow.editing.edits import Edit

MOST_WORDS = 2_000
MOST_WEEKS = 53
MOST_EDITS = 100


def _stripped(text: str) -> str:
    return clean_text(text).strip()


Words = Annotated[str, Field(max_length=MOST_WORDS), AfterValidator(_stripped)]


class StepState(StrEnum):
    """What was done with a step."""

    OPEN = "open"
    DONE = "done"
    SKIPPED = "skipped"


class Judgement(StrEnum):
    """What somebody thinks of a step, or of a workflow as a whole."""

    NONE = ""
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class StepMark(Value):
    """What an engineer did with a step; it takes the place of what was said before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: StepState = StepState.OPEN
    why: Words = ""
    """Why it was skipped; needed then."""
    seen: Words = ""
    """What was seen at it."""
    branch: str | None = Field(default=None, max_length=MOST_WORDS)
    """Of a step with several exits: the condition of the one that was followed. It is done then."""


@dataclass(frozen=True)
class PartOfMark:
    """What a form says of a step; what is None stays as it was."""

    state: StepState | None = None
    why: str | None = None
    seen: str | None = None
    branch: str | None = None
    """The condition of the branch that was followed."""

    def put_on(self, before: StepMark) -> StepMark:
        """The whole mark: a branch makes the step done, and an open step has none."""
        done = StepState.DONE if self.branch is not None else before.state
        branch = before.branch if self.branch is None else self.branch
        return StepMark(
            state=self.state or done,
            why=before.why if self.why is None else self.why,
            seen=before.seen if self.seen is None else self.seen,
            branch=None if self.state is StepState.OPEN else branch,
        )


class StepJudgement(Value):
    """What an engineer thinks of a step; it takes the place of what was said before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Judgement
    word: Words = ""
    """Why."""


class Acceptance(Value):
    """Whether the workflow as a whole was the answer.

    That it is not is said by handing the ticket over.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    accepted: bool = True
    """False takes back what was said."""
    word: Words = ""


class StepWork(Value):
    """What was done with a step and said of it, by whom and when."""

    step: str
    """Its id."""
    state: StepState = StepState.OPEN
    why: str = ""
    seen: str = ""
    branch: str | None = None
    marked_by: str = ""
    marked_at: datetime | None = None
    verdict: Judgement = Judgement.NONE
    word: str = ""
    judged_by: str = ""
    judged_at: datetime | None = None


class Work(Value):
    """How far the work on a workflow is. Its marks are those of its candidate and all versions."""

    workflow_id: str
    ticket_id: str
    candidate_id: str
    latest_id: str
    """The version that an edit may be based on."""
    steps: tuple[StepWork, ...] = ()
    """Those that something was done with."""
    next: str | None
    """The id of the step to do next; None where nothing is left, or the workflow was rejected."""
    again: bool = False
    """Whether that step was done before, and a loop leads back to it."""
    left_aside: tuple[str, ...] = ()
    """Ids of steps that only branches lead to which were not followed."""
    done: int
    settled: int = 0
    """Decisions that were answered before, and that nobody has to take; they count as not done."""
    skipped: int
    total: int
    core: int = 0
    """Core steps of the candidate: the actions on the path that was followed."""
    used: int = 0
    """Of them, those that were used."""
    verdict: Judgement = Judgement.NONE
    """What was said of the workflow as a whole."""
    word: str = ""
    judged_by: str = ""
    judged_at: datetime | None = None

    @property
    def by_step(self) -> dict[str, StepWork]:
        """What was done, by step id."""
        return {each.step: each for each in self.steps}


class EditRequest(Value):
    """Edits of a workflow, in their order; the address names the version that they are of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    edits: tuple[Edit, ...] = Field(min_length=1, max_length=MOST_EDITS)


class VersionChanges(Value):
    """What a version changes."""

    workflow_id: str
    base_id: str | None
    """What was edited; None of a candidate, which changes nothing."""
    since_base: tuple[StepChange, ...] = ()
    since_candidate: tuple[StepChange, ...] = ()


class AdoptionCount(Value):
    """How the workflows of some tickets were taken."""

    accepted: int = 0
    """At least three quarters of their core steps were used, and nobody rejected them."""
    partly: int = 0
    """Fewer, and the work is over."""
    rejected: int = 0
    open: int = 0
    """Worked with, and not decided."""

    @property
    def decided(self) -> int:
        """Those that the rate is of."""
        return self.accepted + self.partly + self.rejected

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rate(self) -> float | None:
        """Share of the decided ones that were accepted; None of none."""
        return self.accepted / self.decided if self.decided else None


class WeekCount(AdoptionCount):
    """Those that were last worked with in one week."""

    week: str
    """As ISO 8601 names it: `2026-W07`."""
    monday: date


class NamedCount(AdoptionCount):
    """Those of one writer, or of one document."""

    name: str


class AcceptanceReport(Value):
    """The acceptance rate by week, and by what the workflows came from."""

    weeks: tuple[WeekCount, ...]
    """The latest last; each is there, also without a ticket."""
    writers: tuple[NamedCount, ...]
    """By the planner of the candidate, the most used first."""
    documents: tuple[NamedCount, ...]
    """The most used first; of very many the first hundred."""
    total: AdoptionCount
