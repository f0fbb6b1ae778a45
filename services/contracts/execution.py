"""Execution: workflows run step by step; commands, approvals and observations."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.kit.errors import ConflictError
from services.kit.value import Value


class ChangedSinceError(ConflictError):
    """Error of an approval of what is not so any more: it is shown again with the difference."""


class RunMode(StrEnum):
    """Permission level of a run."""

    DRY = "dry"
    """Sends nothing; shows what would be sent."""
    READ_ONLY = "read_only"
    """Runs read-only steps; changes are left to people."""
    SUPERVISED = "supervised"
    """Makes changes that a person approves, one by one."""


class RunPhase(StrEnum):
    """Phase of a run."""

    RUNNING = "running"
    ASKING = "asking"
    """The run waits for an answer."""
    APPROVING = "approving"
    """The run waits for an approval."""
    PAUSED = "paused"
    ENDED = "ended"


class RunOutcome(StrEnum):
    """Outcome of a run."""

    SIMULATED = "simulated"
    """The end of a dry run."""
    RECOVERED = "recovered"
    """The run changed something, and each change was verified to work."""
    DONE = "done"
    """The run reached an end of the workflow; there was nothing to verify."""
    HANDED_OVER = "handed_over"
    """A person continues."""
    CANCELLED = "cancelled"


class StartRun(Value):
    """Request to run a workflow."""

    ticket_id: str = Field(max_length=200)
    workflow_id: str = Field(default="", max_length=200)
    """Id of the workflow; empty: the one that the ticket shows."""
    step: str = Field(default="", max_length=400)
    """Checklist box that the caller is at, the only one that is looked at: nobody has read under
    which conditions its boxes are done. Empty for every other workflow.
    """
    mode: RunMode = RunMode.DRY
    confirms_page: bool = False
    """True if the person starting the run has seen what speaks against the page and confirms it.
    Without confirmation nothing is changed.
    """


class ChosenCall(Value):
    """A tool call that a person chose."""

    tool: str = Field(max_length=100)
    target: str = Field(max_length=100)
    arguments: dict[str, Annotated[str, Field(max_length=500)]] = Field(default={}, max_length=20)


class StartByHand(Value):
    """Request of a person to run tools for a ticket without a page that says so."""

    ticket_id: str = Field(max_length=200)
    calls: tuple[ChosenCall, ...] = Field(min_length=1, max_length=20)
    """Calls in order; a call that changes something needs approval as in every run."""


class LookAtOnce(Value):
    """Request to run the read-only steps of a ticket's new workflow before anybody asks."""

    ticket_id: str = Field(max_length=200)
    workflow_id: str = Field(min_length=1, max_length=200)


class LookedAtOnce(Value):
    """Result of a request to look at once."""

    run_id: str = ""
    """Id of the run; empty if the policy forbids it, the fit is not sure, or there is nothing to
    look at.
    """


class RunQuestion(Value):
    """A question that a run asks a person."""

    seq: int
    """Sequence number of its event, which an answer refers to."""
    what: str
    """Kind of question: `decide`, `do`, `fill`, `unknown` or `failed`."""
    text: str
    options: tuple[str, ...]
    fills: tuple[str, ...] = ()
    """Parameters to be filled in."""
    evidence: tuple[str, ...] = ()
    """Lines of tool output."""
    step: str


class RunPassage(Value):
    """Lines of a page that a step comes from, as they stand."""

    document_id: str
    start_line: int
    end_line: int
    text: str


class RunDifference(Value):
    """One thing that is not as it was when the change was shown before."""

    what: str
    was: str
    now: str


class RunApproval(Value):
    """A change that waits for approval."""

    digest: str
    """Digest of exactly what would be sent, which an approval refers to."""
    step: str
    tool: str
    target: str
    shown: str
    """The call as it would be sent, for people."""
    undo: str = ""
    """Tool that undoes the change; empty: there is none."""
    simulated: tuple[str, ...] = ()
    """Output of the tool's own dry run, if it has one."""
    passages: tuple[RunPassage, ...] = ()
    """Lines of the page that say to do it; empty for a run by hand."""
    definition: str = ""
    """Digest of what the catalogue says of the tool, those it refers to, and the target."""
    again: str = ""
    """Reason why approval is requested again; empty for the first request."""
    differences: tuple[RunDifference, ...] = ()
    """Differences from the request before."""
    warnings: tuple[str, ...] = ()
    """Reasons against it: the ticket is resolved, or the policy would refuse it now."""
    expires_at: datetime


class RunStep(Value):
    """A step of the workflow, as this run performs it."""

    id: str
    number: int
    kind: str
    text: str
    commands: tuple[str, ...] = ()
    tool: str = ""
    """Name of the tool; empty: a person does or decides the step."""
    target: str = ""
    target_from: str = ""
    """Source of the target, a label or the inventory, or the reason why there is none."""
    shown: str = ""
    """The call that is sent, as far as it is known beforehand."""
    changes: bool = False
    by_person: str = ""
    """Reason why a person does or decides the step; empty if the run can."""
    undo: str = ""
    """Tool that undoes the step; `none` for a change that cannot be undone."""
    dry_run: str = ""
    """Tool that simulates the step; `none` for a change that cannot be simulated."""
    answers: dict[str, str] = Field(default={})
    """Conditions by which tool output decides a question, by answer."""
    why: str = ""
    """Evidence for the binding."""
    visits: int = 0
    came: str = ""
    """Outcome of the last visit, in a few words."""
    evidence: tuple[str, ...] = ()
    is_current: bool = False


class RunEvent(Value):
    """An event of a run."""

    seq: int
    kind: str
    at: datetime
    by: str = ""
    step: str = ""
    visit: int = 0
    facts: dict[str, Any] = Field(default={})


class RunSummary(Value):
    """A run in a list."""

    id: str
    ticket_id: str
    ticket_title: str
    title: str
    """Title of the workflow."""
    mode: RunMode
    phase: RunPhase
    outcome: RunOutcome | None = None
    why: str = ""
    """Reason for the outcome, or what the run waits for."""
    requested_by: str
    requested_at: datetime


class RunDetail(RunSummary):
    """A run with all its events."""

    workflow_id: str
    """Id of the workflow; empty for a run by hand."""
    confirmed_by: str = ""
    against: tuple[str, ...] = ()
    """Reasons against the page at the time it was confirmed."""
    steps: tuple[RunStep, ...]
    paths: int
    """Number of paths through the workflow; 1,000 at most."""
    question: RunQuestion | None = None
    approval: RunApproval | None = None
    is_stopping: bool = False
    """True if a person ends it, and it stays open until the change that was sent has an end."""
    events: tuple[RunEvent, ...]
    report: str = ""
    """Markdown report of what was run, seen, decided and verified, once the run is over."""


_Text = Annotated[str, Field(max_length=500)]


class RunAnswer(Value):
    """An answer to a run's question."""

    question: int
    """Sequence number (`seq`) of the question."""
    option: _Text
    arguments: dict[str, _Text] = Field(default={}, max_length=20)
    """Values of the parameters to fill in."""
    word: str = Field(default="", max_length=2000)


class RunDecision(Value):
    """Approval or denial of a change."""

    digest: str = Field(max_length=64)
    word: str = Field(default="", max_length=2000)


class BindingApproval(Value):
    """A binding of a workflow step to a tool that a person vouches for."""

    ticket_id: str = Field(max_length=200)
    workflow_id: str = Field(default="", max_length=200)
    step: str = Field(max_length=200)
    binding: dict[str, Any]
    """The binding; see `services/execution/bindings/binding.py`."""


class StepBinding(Value):
    """A step's tool call, as proposed or approved."""

    step: str
    text: str
    commands: tuple[str, ...] = ()
    binding: dict[str, Any]
    target: str = ""
    """Target for this ticket; empty without a tool, or if nobody names one."""
    target_from: str = ""
    """Source of the target, a label or the inventory, or the reason why there is none."""
    changes: bool = False
    """True if the tool changes something."""
    approved_by: str = ""
    key: str = ""
    """Key by which an approved binding is withdrawn; empty if nobody has approved it."""
    is_changed_tool: bool = False
    """True if the tool's definition has changed since the approval."""
    approved_before: str = ""
    """Approver of the same commands for a step of an earlier reading, for a box. The box is not run
    until somebody approves the binding for it.
    """


class OrphanedBinding(Value):
    """An approved binding of a step that no reading of its page has any more."""

    text: str
    commands: tuple[str, ...] = ()
    """Commands of the step."""
    binding: dict[str, Any]
    changes: bool = False
    """True if the tool changes something."""
    approved_by: str
    at: datetime


class ToolField(Value):
    """A field of a tool's output."""

    name: str
    description: str = ""
    values: tuple[str, ...] = ()


class ToolParameter(Value):
    """A parameter of a tool."""

    name: str
    description: str = ""
    type: str = "string"
    pattern: str = ""
    """Pattern that the whole value must match; without one it is a single plain word."""
    values: tuple[str, ...] = ()
    """The only allowed values, if they are listed."""
    minimum: float | None = None
    maximum: float | None = None
    labels: tuple[str, ...] = ()
    """Ticket labels that hold the value."""


class ToolSummary(Value):
    """A tool of the catalogue."""

    name: str
    description: str
    changes: bool
    target: str
    """The kind of target that the tool is for."""
    targets: tuple[str, ...] = ()
    """Targets of this kind in the catalogue."""
    parameters: tuple[str, ...] = ()
    details: tuple[ToolParameter, ...] = ()
    """Details of the parameters, in their order."""
    fields: tuple[ToolField, ...] = ()


class Suspended(Value):
    """The emergency stop of all runs, in force."""

    by: str
    why: str
    at: datetime


class Suspend(Value):
    """Request to stop all runs."""

    why: str = Field(default="", max_length=500)


class FailedCommand(Value):
    """A command of a page that a target did not understand, with no success since."""

    document_id: str
    start_line: int
    end_line: int
    """Last of the lines that the step cites, as the page was then."""
    command: str
    """The command as the page writes it."""
    target: str
    """Target of the latest failure; `answer` belongs to it too."""
    answer: str
    """The line in which the target said so."""
    times: int
    """Number of runs."""
    first_at: datetime
    last_at: datetime
    runs: tuple[str, ...]
    """Ids of runs, the latest first; 10 at most."""
    tickets: tuple[str, ...]
    """Ids of the tickets of these runs."""


class Execution(Protocol):
    """Executor of workflows, in the name of the current caller."""

    def start(self, wanted: StartRun) -> RunDetail:
        """Start a run of a ticket's workflow; a dry run is over at once.

        Raises:
            NotFoundError: No such ticket or workflow.
            RunRefusedError: It may not be run so; the message says why.
        """

    def start_by_hand(self, wanted: StartByHand) -> RunDetail:
        """Run tools that a person chose: reads at once, changes after approval, within the policy.

        Raises:
            NotFoundError: No such ticket, tool or target.
            InvalidInputError: An argument is missing or not allowed.
            ForbiddenError: The caller is a key: people choose.
        """

    def look_at_once(self, wanted: LookAtOnce) -> LookedAtOnce:
        """Start a read-only run that asks nobody, once per workflow, if the policy allows it.

        Raises:
            NotFoundError: No such ticket or workflow.
        """

    def run(self, run_id: str) -> RunDetail:
        """Return a run with all its events.

        Raises:
            NotFoundError: No such run.
        """

    def runs(self, ticket_id: str = "") -> list[RunSummary]:
        """List the runs of one ticket, or the latest of all; 50 at most."""

    def approve(self, run_id: str, decision: RunDecision) -> RunDetail:
        """Approve exactly this change.

        Raises:
            ChangedSinceError: It is not so any more; it is shown again with the difference.
            ConflictError: It is not what waits, was decided already, or is too late.
            ForbiddenError: The caller may not approve it.
        """

    def deny(self, run_id: str, decision: RunDecision) -> RunDetail:
        """Deny a change for good; raises as `approve`."""

    def answer(self, run_id: str, answer: RunAnswer) -> RunDetail:
        """Answer the run's question.

        Raises:
            ConflictError: The run asks no such question.
        """

    def pause(self, run_id: str) -> RunDetail:
        """Pause the run after the current command; raises `NotFoundError`."""

    def resume(self, run_id: str) -> RunDetail:
        """Resume the run; raises `NotFoundError`."""

    def cancel(self, run_id: str) -> RunDetail:
        """Cancel the run; raises `NotFoundError`."""

    def take_over(self, run_id: str) -> RunDetail:
        """End the run, since the caller continues by hand; raises `NotFoundError`."""

    def bindings(self, ticket_id: str, workflow_id: str = "") -> list[StepBinding]:
        """List each step's tool call, proposed or approved; raises `NotFoundError`."""

    def approve_binding(self, approval: BindingApproval) -> StepBinding:
        """Approve a binding as it is sent; raises `InvalidInputError`, `NotFoundError`."""

    def withdraw_binding(self, key: str) -> None:
        """Withdraw the approval of a binding; a change that waits by it is not sent.

        Raises:
            NotFoundError: Nobody has approved one of this key.
            ForbiddenError: The caller is no person.
        """

    def orphaned_bindings(self, document_id: str) -> list[OrphanedBinding]:
        """List approved bindings of a page whose steps are gone, the oldest first.

        Those replaced by an approved binding of a box are left out.
        """

    def tools(self) -> list[ToolSummary]:
        """List the tools of the catalogue."""

    def failed_commands(self, *, weeks: int) -> list[FailedCommand]:
        """List failed commands in runs of the last weeks, by document and line."""

    def suspension(self) -> Suspended | None:
        """Return the emergency stop, if it is in force."""

    def suspend(self, request: Suspend) -> None:
        """Stop all runs; this overrides every other state."""

    def release(self) -> None:
        """Lift the emergency stop."""


class ExecutionClient(ContractClient):
    """`Execution` in another process, over HTTP."""

    start = route(Execution.start, "POST", "/v1/runs")
    start_by_hand = route(Execution.start_by_hand, "POST", "/v1/runs/by-hand")
    look_at_once = route(Execution.look_at_once, "POST", "/v1/looks")
    run = route(Execution.run, "GET", "/v1/runs/{run_id}")
    runs = route(Execution.runs, "GET", "/v1/runs")
    approve = route(Execution.approve, "POST", "/v1/runs/{run_id}/approval")
    deny = route(Execution.deny, "POST", "/v1/runs/{run_id}/denial")
    answer = route(Execution.answer, "POST", "/v1/runs/{run_id}/answer")
    pause = route(Execution.pause, "POST", "/v1/runs/{run_id}/pause")
    resume = route(Execution.resume, "POST", "/v1/runs/{run_id}/resumption")
    cancel = route(Execution.cancel, "POST", "/v1/runs/{run_id}/cancellation")
    take_over = route(Execution.take_over, "POST", "/v1/runs/{run_id}/taking-over")
    bindings = route(Execution.bindings, "GET", "/v1/bindings")
    approve_binding = route(Execution.approve_binding, "POST", "/v1/bindings")
    withdraw_binding = route(Execution.withdraw_binding, "DELETE", "/v1/bindings/{key}")
    orphaned_bindings = route(Execution.orphaned_bindings, "GET", "/v1/bindings/orphaned")
    tools = route(Execution.tools, "GET", "/v1/tools")
    failed_commands = route(Execution.failed_commands, "GET", "/v1/failed-commands")
    suspension = route(Execution.suspension, "GET", "/v1/suspension")
    suspend = route(Execution.suspend, "POST", "/v1/suspension")
    release = route(Execution.release, "DELETE", "/v1/suspension")
