"""Execution: a workflow is carried out step by step; what is sent, by whose leave, what is seen."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Protocol

from pydantic import Field

from services.kit.http.client import ServiceClient
from services.kit.value import Value


class RunMode(StrEnum):
    """What a run may do."""

    DRY = "dry"
    """It sends nothing: it says what would be sent."""
    READ_ONLY = "read_only"
    """It looks; changes are left to people."""
    SUPERVISED = "supervised"
    """It changes what a person approves, change by change."""


class RunPhase(StrEnum):
    """What a run is about."""

    RUNNING = "running"
    ASKING = "asking"
    """It waits for an answer."""
    APPROVING = "approving"
    """It waits for an approval."""
    PAUSED = "paused"
    ENDED = "ended"


class RunOutcome(StrEnum):
    """How a run ended."""

    SIMULATED = "simulated"
    """A dry run."""
    RECOVERED = "recovered"
    """Something was changed, and each change was seen to work."""
    DONE = "done"
    """An end of the workflow was come to; nothing was to be verified."""
    HANDED_OVER = "handed_over"
    """A person goes on."""
    CANCELLED = "cancelled"


class StartRun(Value):
    """What is to be run."""

    ticket_id: str = Field(max_length=200)
    workflow_id: str = Field(default="", max_length=200)
    """Empty: the one that the ticket shows."""
    step: str = Field(default="", max_length=400)
    """Of a checklist the box that the caller stands at, which alone is looked at: nobody has read
    under which conditions its boxes are done. Empty of every other workflow."""
    mode: RunMode = RunMode.DRY
    confirms_page: bool = False
    """Whoever starts it has seen what speaks against the page, and says that it is the one.
    Without it nothing is changed."""


class ChosenCall(Value):
    """A tool that a person chose."""

    tool: str = Field(max_length=100)
    target: str = Field(max_length=100)
    arguments: dict[str, Annotated[str, Field(max_length=500)]] = Field(default={}, max_length=20)


class StartByHand(Value):
    """What a person wants done about a ticket, though no page tells it."""

    ticket_id: str = Field(max_length=200)
    calls: tuple[ChosenCall, ...] = Field(min_length=1, max_length=20)
    """In this order. What changes something waits for leave as in every run."""


class LookAtOnce(Value):
    """A workflow that has come to a ticket, and that may be looked at before somebody asks."""

    ticket_id: str = Field(max_length=200)
    workflow_id: str = Field(min_length=1, max_length=200)


class LookedAtOnce(Value):
    """What came of it."""

    run_id: str = ""
    """Empty: the policy does not say so, the fit is not sure, or there is nothing to look at."""


class RunQuestion(Value):
    """What a person is asked."""

    seq: int
    """Of its event; an answer names it."""
    what: str
    """`decide`, `do`, `fill`, `unknown` or `failed`."""
    text: str
    options: tuple[str, ...]
    fills: tuple[str, ...] = ()
    """Parameters that are to be filled in."""
    evidence: tuple[str, ...] = ()
    """Lines that tools told."""
    step: str


class RunApproval(Value):
    """A change that waits for somebody's leave."""

    digest: str
    """Names exactly what would be sent; an approval names it."""
    step: str
    tool: str
    target: str
    shown: str
    """What would be sent, for people."""
    undo: str = ""
    """The tool that takes it back; empty: there is none."""
    simulated: tuple[str, ...] = ()
    """Lines of the tool's own dry run, where it has one."""
    expires_at: datetime


class RunStep(Value):
    """A step of the workflow, as this run takes it."""

    id: str
    number: int
    kind: str
    text: str
    commands: tuple[str, ...] = ()
    tool: str = ""
    """Empty: a person does or decides it."""
    target: str = ""
    shown: str = ""
    """What is sent, as far as it is known beforehand."""
    changes: bool = False
    by_person: str = ""
    """Why a person does or decides it; empty where the run can."""
    undo: str = ""
    """What takes it back; `none` of a change that nothing takes back."""
    dry_run: str = ""
    """`none`: a change that cannot be simulated."""
    answers: dict[str, str] = Field(default={})
    """Of a question: what tells each answer."""
    why: str = ""
    """What the binding rests on."""
    visits: int = 0
    came: str = ""
    """What became of it at the last visit, in a few words."""
    evidence: tuple[str, ...] = ()
    is_current: bool = False


class RunEvent(Value):
    """Something that happened in a run."""

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
    """Of the workflow."""
    mode: RunMode
    phase: RunPhase
    outcome: RunOutcome | None = None
    why: str = ""
    """Why it ended so, or what it waits for."""
    requested_by: str
    requested_at: datetime


class RunDetail(RunSummary):
    """A run with all that happened."""

    workflow_id: str
    """Empty of a run by hand."""
    confirmed_by: str = ""
    against: tuple[str, ...] = ()
    """What spoke against the page when somebody confirmed it."""
    steps: tuple[RunStep, ...]
    paths: int
    """Ways through the workflow; of very many 1,000."""
    question: RunQuestion | None = None
    approval: RunApproval | None = None
    events: tuple[RunEvent, ...]
    report: str = ""
    """What was run, seen, decided and verified, in Markdown; once it is over."""


_Text = Annotated[str, Field(max_length=500)]


class RunAnswer(Value):
    """An answer to a run's question."""

    question: int
    """Its `seq`."""
    option: _Text
    arguments: dict[str, _Text] = Field(default={}, max_length=20)
    """What was filled in."""
    word: str = Field(default="", max_length=2000)


class RunDecision(Value):
    """Leave for a change, or its refusal."""

    digest: str = Field(max_length=64)
    word: str = Field(default="", max_length=2000)


class BindingApproval(Value):
    """A binding that somebody vouches for: of a step of a ticket's workflow."""

    ticket_id: str = Field(max_length=200)
    workflow_id: str = Field(default="", max_length=200)
    step: str = Field(max_length=200)
    binding: dict[str, Any]
    """See `services/executor/bindings/binding.py`."""


class StepBinding(Value):
    """What carries a step out, as it is proposed or approved."""

    step: str
    text: str
    commands: tuple[str, ...] = ()
    binding: dict[str, Any]
    changes: bool = False
    """Whether its tool changes something."""
    approved_by: str = ""
    is_changed_tool: bool = False
    """Whether its tool is defined otherwise than when it was approved."""
    approved_before: str = ""
    """Of a box: who approved it for a step with the box's commands, of a reading that is gone. No
    look is done by it before somebody approves it for the box."""


class OrphanedBinding(Value):
    """What somebody approved for a step of a page that no reading of it has any more."""

    text: str
    commands: tuple[str, ...] = ()
    """Of the step."""
    binding: dict[str, Any]
    changes: bool = False
    """Whether its tool changes something."""
    approved_by: str
    at: datetime


class ToolField(Value):
    """What a tool's output tells."""

    name: str
    description: str = ""
    values: tuple[str, ...] = ()


class ToolParameter(Value):
    """What a tool wants to be told."""

    name: str
    description: str = ""
    type: str = "string"
    pattern: str = ""
    """What the whole value matches; without one it is a single plain word."""
    values: tuple[str, ...] = ()
    """The only ones, where there are any."""
    minimum: float | None = None
    maximum: float | None = None
    labels: tuple[str, ...] = ()
    """Labels of tickets that hold it."""


class ToolSummary(Value):
    """A tool of the catalogue."""

    name: str
    description: str
    changes: bool
    target: str
    """The kind that it is for."""
    targets: tuple[str, ...] = ()
    """Those of this kind that the catalogue has."""
    parameters: tuple[str, ...] = ()
    details: tuple[ToolParameter, ...] = ()
    """Of the parameters, in their order."""
    fields: tuple[ToolField, ...] = ()


class Suspended(Value):
    """All runs stand still."""

    by: str
    why: str
    at: datetime


class Suspend(Value):
    """All runs are to stand still."""

    why: str = Field(default="", max_length=500)


class FailedCommand(Value):
    """A command of a page that a target did not understand, and none has understood since."""

    document_id: str
    start_line: int
    end_line: int
    """What the step cites, as the page was then."""
    command: str
    """As the page has it."""
    target: str
    """Of the latest time, and so is `answer`."""
    answer: str
    """The line by which the target said so."""
    times: int
    """Runs."""
    first_at: datetime
    last_at: datetime
    runs: tuple[str, ...]
    """Ids, the latest first; 10 at most."""
    tickets: tuple[str, ...]
    """Theirs."""


class Execution(Protocol):
    """Carries workflows out. Whoever calls is the current caller."""

    def start(self, wanted: StartRun) -> RunDetail:
        """Start a run of a ticket's workflow; a dry run is over at once.

        Raises:
            NotFoundError: No such ticket or workflow.
            RunRefusedError: It may not be run so; the message says why.
        """

    def start_by_hand(self, wanted: StartByHand) -> RunDetail:
        """Carry out what a person chose: looks at once, changes by leave, where the policy lets it.

        Raises:
            NotFoundError: No such ticket, tool or target.
            InvalidInputError: An argument is missing or not allowed.
            ForbiddenError: The caller is a key: people choose.
        """

    def look_at_once(self, wanted: LookAtOnce) -> LookedAtOnce:
        """Start a run that looks and asks nobody, once a workflow, where the policy says so.

        Raises:
            NotFoundError: No such ticket or workflow.
        """

    def run(self, run_id: str) -> RunDetail:
        """Raises `NotFoundError`."""

    def runs(self, ticket_id: str = "") -> list[RunSummary]:
        """Of one ticket, or the latest of all; 50 at most."""

    def approve(self, run_id: str, decision: RunDecision) -> RunDetail:
        """Let exactly this change be sent.

        Raises:
            ConflictError: It is not what waits, was decided already, or is too late.
            ForbiddenError: The caller may not approve it.
        """

    def deny(self, run_id: str, decision: RunDecision) -> RunDetail:
        """Refuse it for good; raises as `approve`."""

    def answer(self, run_id: str, answer: RunAnswer) -> RunDetail:
        """Raises `ConflictError` where nothing like it is asked."""

    def pause(self, run_id: str) -> RunDetail:
        """Let it rest after what is being sent; raises `NotFoundError`."""

    def resume(self, run_id: str) -> RunDetail:
        """Let it go on; raises `NotFoundError`."""

    def cancel(self, run_id: str) -> RunDetail:
        """End it; raises `NotFoundError`."""

    def take_over(self, run_id: str) -> RunDetail:
        """End it, since the caller goes on by hand; raises `NotFoundError`."""

    def bindings(self, ticket_id: str, workflow_id: str = "") -> list[StepBinding]:
        """What carries each step out, proposed or approved; raises `NotFoundError`."""

    def approve_binding(self, given: BindingApproval) -> StepBinding:
        """Vouch for a binding, as it is given; raises `InvalidInputError`, `NotFoundError`."""

    def orphaned_bindings(self, document_id: str) -> list[OrphanedBinding]:
        """Approved ones of a page whose steps are gone, the oldest first.

        Those in whose place one was approved at a box are left out.
        """

    def tools(self) -> list[ToolSummary]:
        """What the catalogue has."""

    def failed_commands(self, *, weeks: int) -> list[FailedCommand]:
        """Of the runs of the last weeks, by document and line."""

    def suspension(self) -> Suspended | None:
        """Whether all runs stand still."""

    def suspend(self, given: Suspend) -> None:
        """Let all runs stand still; it wins over every other state."""

    def release(self) -> None:
        """Let them go on."""


class ExecutionClient:
    """`Execution` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def start(self, wanted: StartRun) -> RunDetail:
        """See `Execution.start`."""
        return RunDetail.model_validate(self._client.post("/v1/runs", wanted))

    def start_by_hand(self, wanted: StartByHand) -> RunDetail:
        """See `Execution.start_by_hand`."""
        return RunDetail.model_validate(self._client.post("/v1/runs/by-hand", wanted))

    def look_at_once(self, wanted: LookAtOnce) -> LookedAtOnce:
        """See `Execution.look_at_once`."""
        return LookedAtOnce.model_validate(self._client.post("/v1/looks", wanted))

    def run(self, run_id: str) -> RunDetail:
        """See `Execution.run`."""
        return RunDetail.model_validate(self._client.get(f"/v1/runs/{run_id}"))

    def runs(self, ticket_id: str = "") -> list[RunSummary]:
        """See `Execution.runs`."""
        found = self._client.get("/v1/runs", ticket_id=ticket_id)
        return [RunSummary.model_validate(each) for each in found]

    def approve(self, run_id: str, decision: RunDecision) -> RunDetail:
        """See `Execution.approve`."""
        return self._post(run_id, "approval", decision)

    def deny(self, run_id: str, decision: RunDecision) -> RunDetail:
        """See `Execution.deny`."""
        return self._post(run_id, "denial", decision)

    def answer(self, run_id: str, answer: RunAnswer) -> RunDetail:
        """See `Execution.answer`."""
        return self._post(run_id, "answer", answer)

    def pause(self, run_id: str) -> RunDetail:
        """See `Execution.pause`."""
        return self._post(run_id, "pause", {})

    def resume(self, run_id: str) -> RunDetail:
        """See `Execution.resume`."""
        return self._post(run_id, "resumption", {})

    def cancel(self, run_id: str) -> RunDetail:
        """See `Execution.cancel`."""
        return self._post(run_id, "cancellation", {})

    def take_over(self, run_id: str) -> RunDetail:
        """See `Execution.take_over`."""
        return self._post(run_id, "taking-over", {})

    def bindings(self, ticket_id: str, workflow_id: str = "") -> list[StepBinding]:
        """See `Execution.bindings`."""
        found = self._client.get("/v1/bindings", ticket_id=ticket_id, workflow_id=workflow_id)
        return [StepBinding.model_validate(each) for each in found]

    def approve_binding(self, given: BindingApproval) -> StepBinding:
        """See `Execution.approve_binding`."""
        return StepBinding.model_validate(self._client.post("/v1/bindings", given))

    def orphaned_bindings(self, document_id: str) -> list[OrphanedBinding]:
        """See `Execution.orphaned_bindings`."""
        found = self._client.get("/v1/bindings/orphaned", document_id=document_id)
        return [OrphanedBinding.model_validate(each) for each in found]

    def tools(self) -> list[ToolSummary]:
        """See `Execution.tools`."""
        return [ToolSummary.model_validate(each) for each in self._client.get("/v1/tools")]

    def failed_commands(self, *, weeks: int) -> list[FailedCommand]:
        """See `Execution.failed_commands`."""
        found = self._client.get("/v1/failed-commands", weeks=weeks)
        return [FailedCommand.model_validate(each) for each in found]

    def suspension(self) -> Suspended | None:
        """See `Execution.suspension`."""
        found = self._client.get("/v1/suspension")
        return Suspended.model_validate(found) if found else None

    def suspend(self, given: Suspend) -> None:
        """See `Execution.suspend`."""
        self._client.post("/v1/suspension", given)

    def release(self) -> None:
        """See `Execution.release`."""
        self._client.delete("/v1/suspension")

    def _post(self, run_id: str, what: str, body: Value | dict[str, str]) -> RunDetail:
        return RunDetail.model_validate(self._client.post(f"/v1/runs/{run_id}/{what}", body))
