"""Adoption: what engineers do with the workflow of a ticket, and think of it."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, computed_field

from services.kit.text import clean_text
from services.kit.value import Value
from services.workflow.editing.changes import StepChange
from services.workflow.editing.edits import Edit
from services.workflow.model import Workflow

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
    NOT_APPLICABLE = "not_applicable"
    """Its condition does not hold: done right, and no action that was called for."""


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
    """What was seen at it. Left out, the note that stood there goes, and is kept as replaced."""
    branch: str | None = Field(default=None, max_length=MOST_WORDS)
    """Of a step with several exits: the condition of the one that was followed. It is done then."""
    was: str | None = None
    """The note as the caller saw it; where another one stands there by now, both are kept."""


@dataclass(frozen=True)
class PartOfMark:
    """What a form says of a step; what is None stays as it was."""

    state: StepState | None = None
    why: str | None = None
    seen: str | None = None
    branch: str | None = None
    """The condition of the branch that was followed."""
    was: str = ""
    """The note that stood in the form."""

    def put_on(self, before: StepMark) -> StepMark:
        """The whole mark: a branch makes the step done, and an open step has none."""
        done = StepState.DONE if self.branch is not None else before.state
        branch = before.branch if self.branch is None else self.branch
        return StepMark(
            state=self.state or done,
            why=before.why if self.why is None else self.why,
            seen=before.seen if self.seen is None else self.seen,
            branch=None if self.state is StepState.OPEN else branch,
            was=self.was,
        )


class StepJudgement(Value):
    """What an engineer thinks of a step; it takes the place of what was said before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Judgement
    word: Words = ""
    """Why."""
    was: str | None = None
    """The word as the caller saw it; where another one stands there by now, both are kept."""


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
    seen_by: str = ""
    """Who wrote what was seen."""
    branch: str | None = None
    marked_by: str = ""
    marked_at: datetime | None = None
    verdict: Judgement = Judgement.NONE
    word: str = ""
    judged_by: str = ""
    judged_at: datetime | None = None
    carried_from: str = ""
    """The workflow of an earlier walk that it was said of; empty where it was said of this one."""
    with_step: str = ""
    """The box around it whose condition does not hold, with which it goes; empty where it was
    marked by itself."""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was done and nothing is said."""
        said = self.why or self.seen or self.word or self.verdict or self.branch
        return self.state is StepState.OPEN and not said


class LeftKind(StrEnum):
    """What something was said of."""

    STEP = "step"
    WORKFLOW = "workflow"
    VERSION = "version"
    """Nothing was said: somebody edited a workflow of an earlier walk."""


class WhyLeft(StrEnum):
    """Why it stands under no step, or under none as its mark."""

    GONE = "gone"
    """No step says the same any more."""
    CHANGED = "changed"
    """The step's text, its commands or its branches are others."""
    ANSWERED = "answered"
    """A question was answered otherwise since."""
    TWICE = "twice"
    """Something else was said of the same step later."""
    REPLACED = "replaced"
    """Somebody wrote something else in its place."""
    PAGE_CHANGED = "page_changed"
    """The page has changed there since: whoever ticked it ticks it again."""


class LeftBehind(Value):
    """What a person did or said that is not the mark of a step of the workflow looked at."""

    kind: LeftKind
    reason: WhyLeft
    workflow_id: str
    """What it was said of."""
    text: str
    """What the step said then; of a workflow its title."""
    commands: tuple[str, ...] = ()
    said: StepWork
    """Of a workflow its verdict; of a version who made it and when."""
    step: str = ""
    """The id of the step that says the same now; empty where none does."""


class Work(Value):
    """How far the work on a workflow is. Its marks are those of its candidate and all versions."""

    workflow_id: str
    ticket_id: str
    candidate_id: str
    latest_id: str
    """The version that an edit may be based on."""
    steps: tuple[StepWork, ...] = ()
    """Those that something was done with, on this workflow or on one of an earlier walk."""
    left_behind: tuple[LeftBehind, ...] = ()
    """All else that people did and said on the ticket, the latest first."""
    next: str | None
    """The id of the step to do next; None where nothing is left, or the workflow was rejected. Of a
    checklist the first open box of its open sections, and behind the last how it ended."""
    again: bool = False
    """Whether that step was done before, and a loop leads back to it."""
    left_aside: tuple[str, ...] = ()
    """Ids of steps that only branches lead to which were not followed."""
    done: int
    """Steps that were done, or whose condition does not hold."""
    settled: int = 0
    """Decisions that were answered before, and that nobody has to take; they count as not done."""
    skipped: int
    total: int
    """Of a checklist its boxes: those in open sections, and those that were marked all the same."""
    core: int = 0
    """Core steps of the candidate: the actions on the path that was followed. Of a checklist those
    that were done or skipped: what merely stays open was not called for."""
    used: int = 0
    """Of them, those that were done."""
    verdict: Judgement = Judgement.NONE
    """What was said of the workflow as a whole."""
    word: str = ""
    judged_by: str = ""
    judged_at: datetime | None = None

    @property
    def by_step(self) -> dict[str, StepWork]:
        """What was done, by step id."""
        return {each.step: each for each in self.steps}


NO_WORK = Work(
    workflow_id="",
    ticket_id="",
    candidate_id="",
    latest_id="",
    next=None,
    done=0,
    skipped=0,
    total=0,
)
"""Nothing done, on a page that is no workflow of a ticket."""


class PageBeside(Value):
    """A page that the page of a ticket leads to, as it stands now, with boxes of its own."""

    document_id: str
    title: str = ""
    is_known: bool = True
    """False where the document is not among those that are known, or not any more."""
    workflow: Workflow | None = None
    """Its checklist, each step under the key of its block; None of a page that is not known, or too
    long to have one."""
    work: Work
    """How far it is on this ticket. The ids of workflows in it are empty: it is none of the
    ticket's, and no figure of these counts it."""

    @property
    def settled(self) -> int:
        """Boxes that need nothing any more."""
        return self.work.done + self.work.skipped


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


class NewerReading(Value):
    """What became of a page or of its reading after a workflow was made of it."""

    document: str
    text_hash: str
    what: Literal["corrected", "approved", "withdrawn", "page changed", "page gone"]
    """The last of it: withdrawn where a correction or an approval was taken back. That its page
    changed, or is no document any more, is told of a checklist."""
    by: str
    """Empty where the page itself changed."""
    at: datetime
    """When; of a page that is gone when the workflow was made."""


class AdoptionCount(Value):
    """How the workflows of some tickets were taken."""

    accepted: int = 0
    """They had at least three quarters of what was done, and nobody rejected them."""
    partly: int = 0
    """Less."""
    rejected: int = 0
    said: int = 0
    """Accepted by a word alone: no step was ticked, so that nothing can be counted."""
    open: int = 0
    """Worked with, and not decided: nobody said so, and the fault is not over."""
    did: int = 0
    """Actions that were done with them: ticked, reworded, or added by hand."""
    had: int = 0
    """Of these, those that the workflows had."""
    core: int = 0
    """Actions on the paths that were taken."""
    used: int = 0
    """Of these, those that were done."""

    @property
    def decided(self) -> int:
        """Those that the rate is of."""
        return self.accepted + self.partly + self.rejected

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rate(self) -> float | None:
        """Share of the decided ones that were accepted; None of none."""
        return self.accepted / self.decided if self.decided else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def recall(self) -> float | None:
        """Of what was done, the share that the workflows had; None where nothing was done."""
        return self.had / self.did if self.did else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def done(self) -> float | None:
        """Of the actions on the paths that were taken, the share that was done."""
        return self.used / self.core if self.core else None


class WeekCount(AdoptionCount):
    """Those that were last worked with in one week."""

    week: str
    """As ISO 8601 names it: `2026-W07`."""
    monday: date


class NamedCount(AdoptionCount):
    """Those of one writer, or of one document."""

    name: str


class Taken(StrEnum):
    """How the workflow of a ticket was taken, as an `AdoptionCount` counts it."""

    ACCEPTED = "accepted"
    PARTLY = "partly"
    REJECTED = "rejected"
    SAID = "said"
    OPEN = "open"


class TakenQuery(Value):
    """Which tickets of the report are meant; what is not said restricts nothing."""

    weeks: int = Field(default=12, ge=1, le=MOST_WEEKS)
    taken: Taken | None = None
    week: str = Field(default="", max_length=10)
    """As in `WeekCount`."""
    writer: str = Field(default="", max_length=200)
    document: str = Field(default="", max_length=1024)


class TakenTicket(Value):
    """A ticket that the report counts."""

    id: str
    title: str
    taken: Taken
    worked_at: datetime
    did: int
    had: int
    core: int
    used: int


class AcceptanceReport(Value):
    """The acceptance rate by week, and by what the workflows came from."""

    weeks: tuple[WeekCount, ...]
    """The latest last; each is there, also without a ticket."""
    writers: tuple[NamedCount, ...]
    """By the planner of the candidate, the most used first."""
    documents: tuple[NamedCount, ...]
    """The most used first; of very many the first hundred."""
    total: AdoptionCount
