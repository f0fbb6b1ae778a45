"""Adoption: what engineers do with a ticket's workflow, and how they judge it."""

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


Words = Annotated[
    str, Field(max_length=MOST_WORDS), AfterValidator(lambda text: clean_text(text).strip())
]


class StepState(StrEnum):
    """State of a step, as an engineer marked it."""

    OPEN = "open"
    DONE = "done"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not_applicable"
    """The step's condition does not hold: correctly handled, and not counted as a required
    action.
    """


class Judgement(StrEnum):
    """An engineer's judgement of a step, or of a workflow as a whole."""

    NONE = ""
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class StepMark(Value):
    """An engineer's mark of a step; it replaces the step's earlier mark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: StepState = StepState.OPEN
    why: Words = ""
    """Reason for skipping the step; required if it is skipped."""
    seen: Words = ""
    """Note on what was observed at the step. If left out, the existing note is removed, and kept as
    a replaced one.
    """
    branch: str | None = Field(default=None, max_length=MOST_WORDS)
    """Condition of the branch that was followed, for a step with several exits; the step then
    counts as done.
    """
    was: str | None = None
    """The existing note as the caller saw it; if another one stands there by now, both are kept."""


@dataclass(frozen=True)
class MarkPatch:
    """Change of a step's mark, as a form submits it; fields that are None stay as they are."""

    state: StepState | None = None
    why: str | None = None
    seen: str | None = None
    branch: str | None = None
    """Condition of the branch that was followed."""
    was: str = ""
    """The existing note, as the form showed it."""

    def apply_to(self, before: StepMark) -> StepMark:
        """Return the whole mark: a branch makes the step done, an open step has no branch."""
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
    """An engineer's judgement of a step; it replaces the step's earlier judgement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Judgement
    word: Words = ""
    """Reason for the judgement."""
    was: str | None = None
    """The existing reason as the caller saw it; if another one stands there by now, both are
    kept.
    """


class Acceptance(Value):
    """Statement that the workflow as a whole was the answer.

    A workflow is rejected by handing its ticket over.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    accepted: bool = True
    """False withdraws an earlier acceptance."""
    word: Words = ""


class StepWork(Value):
    """Mark and judgement of a step, with their authors and times."""

    step: str
    """Id of the step."""
    state: StepState = StepState.OPEN
    why: str = ""
    seen: str = ""
    seen_by: str = ""
    """Author of the note `seen`."""
    branch: str | None = None
    marked_by: str = ""
    marked_at: datetime | None = None
    verdict: Judgement = Judgement.NONE
    word: str = ""
    judged_by: str = ""
    judged_at: datetime | None = None
    carried_from: str = ""
    """Workflow of an earlier walk that this was said of; empty if it was said of this workflow."""
    with_step: str = ""
    """Id of the enclosing box whose condition does not hold, so that this step does not apply
    either; empty if the step was marked by itself.
    """

    @property
    def is_blank(self) -> bool:
        """True if the step is open and has no note, reason, branch or judgement."""
        entries = self.why or self.seen or self.word or self.verdict or self.branch
        return self.state is StepState.OPEN and not entries


class LeftKind(StrEnum):
    """Kind of thing that orphaned feedback refers to."""

    STEP = "step"
    WORKFLOW = "workflow"
    VERSION = "version"
    """An edited version of a workflow of an earlier walk, without feedback of its own."""


class WhyLeft(StrEnum):
    """Reason why feedback is not shown as the mark of a step."""

    GONE = "gone"
    """No step has the same text any more."""
    CHANGED = "changed"
    """The step's text, commands or branches have changed."""
    ANSWERED = "answered"
    """A question has been answered differently since."""
    TWICE = "twice"
    """Later feedback exists for the same step."""
    REPLACED = "replaced"
    """Another person's text has replaced it."""
    PAGE_CHANGED = "page_changed"
    """The page has changed there since; the box has to be ticked again."""


class LeftBehind(Value):
    """Orphaned feedback: marks and judgements that belong to no step of the current workflow."""

    kind: LeftKind
    reason: WhyLeft
    workflow_id: str
    """Workflow that the feedback was given on."""
    text: str
    """Text of the step at that time; of a workflow its title."""
    commands: tuple[str, ...] = ()
    said: StepWork
    """The feedback; for a workflow its verdict, for a version its author and time."""
    step: str = ""
    """Id of the step that has the same text now; empty if there is none."""


class Work(Value):
    """Progress of the work on a workflow, with the marks of its candidate and all its versions."""

    workflow_id: str
    ticket_id: str
    candidate_id: str
    latest_id: str
    """Version that an edit may be based on."""
    steps: tuple[StepWork, ...] = ()
    """Steps that have a mark or judgement, on this workflow or on one of an earlier walk."""
    left_behind: tuple[LeftBehind, ...] = ()
    """All other feedback on the ticket, the latest first."""
    next: str | None
    """Id of the step to do next; None if nothing is left or the workflow was rejected. In a
    checklist the first open box of the open sections, and after the last box the ending.
    """
    again: bool = False
    """True if that step was done before and a loop leads back to it."""
    left_aside: tuple[str, ...] = ()
    """Ids of steps that are reached only by branches that were not followed."""
    done: int
    """Number of steps that were done, or whose condition does not hold."""
    settled: int = 0
    """Number of decisions that were answered before, so that nobody has to take them; they do not
    count as done.
    """
    skipped: int
    total: int
    """Number of steps; in a checklist the boxes in open sections, and any other boxes that were
    marked.
    """
    core: int = 0
    """Number of core steps of the candidate: the actions on the path that was followed. In a
    checklist those that were done or skipped: a box that stays open was not called for.
    """
    used: int = 0
    """Number of core steps that were done."""
    verdict: Judgement = Judgement.NONE
    """Judgement of the workflow as a whole."""
    word: str = ""
    judged_by: str = ""
    judged_at: datetime | None = None

    @property
    def by_step(self) -> dict[str, StepWork]:
        """Work on each step, by step id."""
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
"""Progress without any mark, for a page that is not a workflow of a ticket."""


class PageBeside(Value):
    """A page linked from a ticket's page, as it is now, with boxes of its own."""

    document_id: str
    title: str = ""
    is_known: bool = True
    """False if the document is not, or no longer, among the ingested ones."""
    workflow: Workflow | None = None
    """The page's checklist, each step under the key of its block; None if the page is unknown or
    too long for a checklist.
    """
    work: Work
    """Progress of the page on this ticket. Its workflow ids are empty: it is not one of the
    ticket's workflows and is not counted in the ticket's figures.
    """

    @property
    def settled(self) -> int:
        """Number of boxes that were done or skipped."""
        return self.work.done + self.work.skipped


class EditRequest(Value):
    """Edits of a workflow, in order; the URL names the version that they apply to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    edits: tuple[Edit, ...] = Field(min_length=1, max_length=MOST_EDITS)


class VersionChanges(Value):
    """Changes made by a version of a workflow."""

    workflow_id: str
    base_id: str | None
    """Version or candidate that was edited; None for a candidate, which changes nothing."""
    since_base: tuple[StepChange, ...] = ()
    since_candidate: tuple[StepChange, ...] = ()


class NewerReading(Value):
    """The latest change to a page, or to its reading, since a workflow was made from it."""

    document: str
    text_hash: str
    what: Literal["corrected", "approved", "withdrawn", "page changed", "page gone"]
    """Kind of the latest change; `withdrawn` if a correction or an approval was undone. `page
    changed` and `page gone` are reported for checklists only.
    """
    by: str
    """Author of the change; empty if the page itself changed."""
    at: datetime
    """Time of the change; for a page that is gone, the time at which the workflow was made."""


class AdoptionCount(Value):
    """Counts of how engineers took up the workflows of a set of tickets."""

    accepted: int = 0
    """Workflows that contained at least three quarters of the actions done and were not
    rejected.
    """
    partly: int = 0
    """Workflows that contained less than that."""
    rejected: int = 0
    said: int = 0
    """Workflows accepted by word alone: no step was ticked, so that nothing can be counted."""
    open: int = 0
    """Workflows in use and not decided: nobody has judged them and the fault is not over."""
    did: int = 0
    """Number of actions that were done: ticked, reworded, or added by hand."""
    had: int = 0
    """Number of these actions that the workflows contained."""
    core: int = 0
    """Number of actions on the paths that were followed."""
    used: int = 0
    """Number of these actions that were done."""

    @property
    def decided(self) -> int:
        """Number of workflows that the rate is computed from."""
        return self.accepted + self.partly + self.rejected

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rate(self) -> float | None:
        """Share of the decided workflows that were accepted; None if none is decided."""
        return self.accepted / self.decided if self.decided else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def recall(self) -> float | None:
        """Share of the actions done that the workflows contained; None if none were done."""
        return self.had / self.did if self.did else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def done(self) -> float | None:
        """Share of the actions on the followed paths that were done; None without such actions."""
        return self.used / self.core if self.core else None


class WeekCount(AdoptionCount):
    """Counts of the workflows that were last worked with in one week."""

    week: str
    """ISO 8601 week, such as `2026-W07`."""
    monday: date


class NamedCount(AdoptionCount):
    """Counts of the workflows of one writer, or of one document."""

    name: str


class Taken(StrEnum):
    """Adoption of a ticket's workflow, as `AdoptionCount` counts it."""

    ACCEPTED = "accepted"
    PARTLY = "partly"
    REJECTED = "rejected"
    WORD_ONLY = "said"
    OPEN = "open"


class TakenQuery(Value):
    """Filter for the tickets of the report; a field that is left out does not restrict it."""

    weeks: int = Field(default=12, ge=1, le=MOST_WEEKS)
    taken: Taken | None = None
    week: str = Field(default="", max_length=10)
    """ISO 8601 week, as in `WeekCount`."""
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
    """Weeks, the latest last; weeks without tickets are included."""
    writers: tuple[NamedCount, ...]
    """Counts by the candidate's planner, the most used first."""
    documents: tuple[NamedCount, ...]
    """Counts by document, the most used first; at most one hundred."""
    total: AdoptionCount
