"""The executor: carries workflows of tickets out, while people decide what is changed."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

from services.contracts.execution import (
    BindingApproval,
    ChangedSinceError,
    FailedCommand,
    LookAtOnce,
    LookedAtOnce,
    OrphanedBinding,
    RunAnswer,
    RunDecision,
    RunDetail,
    RunMode,
    RunOutcome,
    RunSummary,
    StartByHand,
    StartRun,
    StepBinding,
    Suspend,
    Suspended,
    ToolField,
    ToolParameter,
    ToolSummary,
)
from services.contracts.gateway import StoredWorkflow, TicketDetail, Tickets
from services.contracts.ticket import Fit
from services.execution.approved_steps import DocumentTextSource, OrphanedBindings, approved_steps
from services.execution.bindings.binding import Binding, conditions_of, step_key
from services.execution.bindings.proposer import BindingProposer
from services.execution.bindings.store import ApprovedBinding, BindingStore
from services.execution.bindings.targets import choose_target, keep_named_targets
from services.execution.by_hand import build_manual_run
from services.execution.runs.events import NewEvent, QuestionKind, RunEventKind
from services.execution.runs.moves import FILLED, NOBODY_READ, UNDO_PREFIX
from services.execution.runs.revisions import PageBasis, Revisions, definition_of, targets_of
from services.execution.runs.run import Confirmation, Limits, Run, RunTicket
from services.execution.runs.state import STOPS_LATER, Approval
from services.execution.runs.store import RunMovedError, RunStore, StoredRun
from services.execution.settings import ExecutorSettings
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.tool import ToolEffect, with_referenced
from services.execution.views import detail_of
from services.kit.access.caller import Caller, CallerKind, acting_as, current_caller
from services.kit.access.scopes import Scope
from services.kit.clock import Clock
from services.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from services.kit.ids import time_ordered_id
from services.runbook.checking.approvals import ApprovalUse
from services.runbook.ports import ReadingSource
from services.workflow.model import Step, StepKind, Transition, Workflow

THE_POLICY = Caller("the policy", CallerKind.PLATFORM)
"""Caller of a run that nobody asked for."""
_LOOKS_NAMESPACE = UUID("6d0f3a54-7c0e-4c39-9d7e-3b2f5f1f7a10")
"""Namespace for ids of looks at once: one run for each workflow."""
WEEK_S = 7 * 86_400


class RunRefusedError(ConflictError):
    """Error of a workflow that may not be run so."""


class ChecklistRunError(RunRefusedError):
    """Error of running a whole checklist, or changing by one: nobody has read its conditions."""


class NotWaitingError(ConflictError):
    """Error of a decision or an answer for something that does not wait for it."""


class NotApproverError(ForbiddenError):
    """Error of a caller who may not vouch for this change, binding or page."""


class ExecutorService:
    """Implements `Execution`."""

    def __init__(
        self,
        store: RunStore,
        bindings: BindingStore,
        *,
        tickets: Tickets,
        texts: DocumentTextSource,
        readings: ReadingSource,
        catalogue: Callable[[], Catalogue],
        clock: Clock,
        settings: ExecutorSettings,
    ) -> None:
        self._store = store
        self._bindings = bindings
        self._tickets = tickets
        self._texts = texts
        self._readings = readings
        self._orphans = OrphanedBindings(bindings, texts, readings)
        self._catalogue = catalogue
        self._clock = clock
        self._settings = settings
        self.revisions = Revisions(
            catalogue,
            lambda id_: _run_ticket(tickets.ticket(id_)),
            texts,
            bindings.approved,
        )

    # Runs

    def start(self, wanted: StartRun) -> RunDetail:
        """See `Execution.start`."""
        ticket, stored = self._workflow(wanted.ticket_id, wanted.workflow_id)
        if stored.workflow.is_checklist or wanted.step:
            stored = self._workflow_at_box(ticket, stored, wanted)
        run = self._build_run(ticket, stored, wanted)
        self._store.start(run, self._clock.now())
        if run.mode is RunMode.DRY:
            facts = {"outcome": RunOutcome.SIMULATED.value, "why": ""}
            self._act(run.id, NewEvent(RunEventKind.ENDED, facts=facts))
        return self.run(run.id)

    def start_by_hand(self, wanted: StartByHand) -> RunDetail:
        """See `Execution.start_by_hand`."""
        caller, catalogue, now = current_caller(), self._catalogue(), self._clock.now()
        _check_person(caller, Scope.RUN)
        ticket = self._tickets.ticket(wanted.ticket_id)
        run = build_manual_run(
            _run_ticket(ticket),
            wanted.calls,
            catalogue,
            caller,
            limits=self._limits(catalogue),
            at=datetime.fromtimestamp(now, UTC),
        )
        self._store.start(run, now)
        return self.run(run.id)

    def look_at_once(self, wanted: LookAtOnce) -> LookedAtOnce:
        """See `Execution.look_at_once`."""
        if not self._catalogue().policy.reads.at_once:
            return LookedAtOnce()
        ticket, stored = self._workflow(wanted.ticket_id, wanted.workflow_id)
        is_shown = ticket.workflow_id == stored.id and ticket.resolved_at is None
        if stored.fit is not Fit.SURE or not is_shown or stored.workflow.is_checklist:
            return LookedAtOnce()
        with acting_as(THE_POLICY):
            request = StartRun(ticket_id=ticket.id, mode=RunMode.READ_ONLY)
            made = self._build_run(ticket, stored, request)
            own_id = str(uuid5(_LOOKS_NAMESPACE, stored.id))
            run = made.model_copy(update={"id": own_id, "asks_nobody": True})
            bound = [run.binding_of[step].tool for step in run.targets]
            if all(run.tool_named[name].effect is ToolEffect.CHANGE for name in bound):
                return LookedAtOnce()
            with suppress(RunMovedError):  # told again: it was started before
                self._store.start(run, self._clock.now())
        return LookedAtOnce(run_id=run.id)

    def run(self, run_id: str) -> RunDetail:
        """See `Execution.run`."""
        return detail_of(self._store.load(run_id))

    def runs(self, ticket_id: str = "") -> list[RunSummary]:
        """See `Execution.runs`."""
        return self._store.of_ticket(ticket_id) if ticket_id else self._store.latest()

    def approve(self, run_id: str, decision: RunDecision) -> RunDetail:
        """See `Execution.approve`."""
        return self._settle(run_id, decision, RunEventKind.APPROVED)

    def deny(self, run_id: str, decision: RunDecision) -> RunDetail:
        """See `Execution.deny`."""
        return self._settle(run_id, decision, RunEventKind.DENIED)

    def answer(self, run_id: str, answer: RunAnswer) -> RunDetail:
        """See `Execution.answer`."""

        def event(stored: StoredRun) -> NewEvent:
            question = stored.state.question
            if question is None or question.seq != answer.question or stored.state.outcome:
                raise NotWaitingError("the run does not ask this, or does not ask it any more")
            if answer.option not in question.options:
                raise InvalidInputError(
                    f"one of {', '.join(question.options)}, got {answer.option!r}"
                )
            if answer.option == FILLED and question.what is QuestionKind.FILL:
                tool = stored.run.tool_named[stored.run.binding_of[question.place[0]].tool]
                for name, value in answer.arguments.items():
                    if name not in tool.parameters:
                        raise InvalidInputError(f"{tool.name} has no parameter {name!r}")
                    tool.parameters[name].checked(name, value)
            facts = {
                "option": answer.option,
                "arguments": answer.arguments if answer.option == FILLED else {},
                "word": answer.word,
            }
            if facts["arguments"]:
                facts["by_id"] = current_caller().lasting_id
            return NewEvent(RunEventKind.ANSWERED, question.place, facts, current_caller().name)

        return self._add(run_id, event)

    def pause(self, run_id: str) -> RunDetail:
        """See `Execution.pause`."""
        return self._act(run_id, NewEvent(RunEventKind.PAUSED, by=current_caller().name))

    def resume(self, run_id: str) -> RunDetail:
        """See `Execution.resume`."""
        return self._act(run_id, NewEvent(RunEventKind.RESUMED, by=current_caller().name))

    def take_over(self, run_id: str) -> RunDetail:
        """See `Execution.take_over`."""
        by = current_caller().name
        facts = {"outcome": RunOutcome.HANDED_OVER.value, "why": f"{by} took over"}
        return self._stop(run_id, NewEvent(RunEventKind.TAKEN_OVER, facts=facts, by=by))

    def cancel(self, run_id: str) -> RunDetail:
        """See `Execution.cancel`."""
        by = current_caller().name
        facts = {"outcome": RunOutcome.CANCELLED.value, "why": f"cancelled by {by}"}
        return self._stop(run_id, NewEvent(RunEventKind.ENDED, facts=facts, by=by))

    # Bindings

    def bindings(self, ticket_id: str, workflow_id: str = "") -> list[StepBinding]:
        """See `Execution.bindings`."""
        ticket, stored = self._workflow(ticket_id, workflow_id)
        bound = self._choose_bindings(stored.workflow, ticket.labels)
        by_id, catalogue = stored.workflow.by_id, self._catalogue()
        return [
            _step_binding(by_id[each.binding.step], each, catalogue, ticket.labels)
            for each in bound
        ]

    def approve_binding(self, approval: BindingApproval) -> StepBinding:
        """See `Execution.approve_binding`."""
        _check_person(current_caller())
        ticket, stored = self._workflow(approval.ticket_id, approval.workflow_id)
        workflow, catalogue = stored.workflow, self._catalogue()
        step = workflow.by_id.get(approval.step)
        if step is None:
            raise NotFoundError(f"the workflow has no step {approval.step!r}")
        shown = self._choose_bindings(workflow, ticket.labels)
        reasons = [each.binding.why for each in shown if each.binding.step == step.id]
        try:
            binding = Binding.model_validate({**approval.binding, "step": step.id})
            if binding.why not in reasons:  # words of people do not stand as the evidence
                binding = binding.model_copy(update={"why": ""})
        except ValueError as error:
            raise InvalidInputError(f"this is no binding: {error}") from error
        binding.check(step, conditions_of(workflow, step.id), catalogue)
        if not binding.tool:
            raise InvalidInputError("a binding names a tool")
        if step.block and catalogue.tool(binding.tool).effect is ToolEffect.CHANGE:
            raise ChecklistRunError("a box of a page is looked at: what it changes, a person does")
        by, digest = current_caller().name, catalogue.tool(binding.tool).digest
        original = self.approved_steps(workflow, ApprovalUse.LOOK).get(step.id, step)
        key = step_key(original, conditions_of(workflow, step.id))
        before = self._orphans.at_boxes(workflow, catalogue).get(step.id)
        self._bindings.approve(
            key, binding, digest, original, by=by, instead_of=before.key if before else ""
        )
        at = datetime.fromtimestamp(self._clock.now(), UTC)
        approved = _ChosenBinding(binding=binding, tool_digest=digest, by=by, at=at, key=key)
        return _step_binding(step, approved, catalogue, ticket.labels)

    def withdraw_binding(self, key: str) -> None:
        """See `Execution.withdraw_binding`."""
        _check_person(current_caller())
        self._bindings.withdraw(key)

    def orphaned_bindings(self, document_id: str) -> list[OrphanedBinding]:
        """See `Execution.orphaned_bindings`."""
        by_name = self._catalogue().by_name
        return [
            OrphanedBinding(
                text=step.text,
                commands=step.commands,
                binding=approved.binding.model_dump(mode="json"),
                changes=bool(
                    (tool := by_name.get(approved.binding.tool))
                    and tool.effect is ToolEffect.CHANGE
                ),
                approved_by=approved.by,
                at=approved.at,
            )
            for approved, step in self._orphans.of_documents([document_id])
        ]

    def tools(self) -> list[ToolSummary]:
        """See `Execution.tools`."""
        catalogue = self._catalogue()
        return [
            ToolSummary(
                name=tool.name,
                description=tool.description,
                changes=tool.effect is ToolEffect.CHANGE,
                target=tool.target,
                targets=tuple(t.name for t in catalogue.targets if t.kind == tool.target),
                parameters=tuple(tool.parameters),
                details=tuple(
                    ToolParameter(name=name, **parameter.model_dump())
                    for name, parameter in tool.parameters.items()
                ),
                fields=tuple(
                    ToolField(name=name, description=field.description, values=field.values)
                    for name, field in tool.output.fields.items()
                ),
            )
            for tool in catalogue.tools
        ]

    def failed_commands(self, *, weeks: int) -> list[FailedCommand]:
        """See `Execution.failed_commands`."""
        return self._store.failed_commands(self._clock.now() - weeks * WEEK_S)

    # All runs

    def suspension(self) -> Suspended | None:
        """See `Execution.suspension`."""
        return self._store.suspension()

    def suspend(self, request: Suspend) -> None:
        """See `Execution.suspend`."""
        self._store.suspend(current_caller().name, request.why, self._clock.now())

    def release(self) -> None:
        """See `Execution.release`."""
        self._store.release(self._clock.now())

    def _workflow(self, ticket_id: str, workflow_id: str) -> tuple[TicketDetail, StoredWorkflow]:
        ticket = self._tickets.ticket(ticket_id)
        wanted = workflow_id or ticket.workflow_id
        if not wanted:
            raise RunRefusedError("the ticket has no workflow")
        stored = self._tickets.workflow(wanted)
        if stored.ticket_id != ticket.id:
            raise NotFoundError(f"the ticket has no workflow {wanted!r}")
        return ticket, stored

    def _build_run(self, ticket: TicketDetail, stored: StoredWorkflow, wanted: StartRun) -> Run:
        caller, catalogue = current_caller(), self._catalogue()
        workflow, now = stored.workflow, self._clock.now()
        at = datetime.fromtimestamp(now, UTC)
        bound = self._choose_bindings(workflow, ticket.labels)
        bindings = tuple(each.binding for each in bound)
        choices = {
            each.step: choose_target(each, catalogue, ticket.labels)
            for each in bindings
            if each.tool
        }
        targets = {step: each.target.name for step, each in choices.items() if each.target}
        confirmation, is_dry = None, wanted.mode is RunMode.DRY
        if wanted.confirms_page:
            _check_person(caller, Scope.RUN)
            against = (*ticket.against, *(a for a in stored.against if a not in ticket.against))
            confirmation = Confirmation(by=caller.name, at=at, against=against)
        # A wrong branch may lead to a change, so what answers a question is vouched for as well.
        of_page = self.approved_steps(workflow, ApprovalUse.ANSWER)
        not_deciding = {
            each.binding.step: (
                "nobody has approved that this tells it"
                if each.binding.step in of_page
                else "nobody has approved this decision of the page"
            )
            for each in bound
            if each.binding.answers and not (each.approved_by and each.binding.step in of_page)
        }
        tools = with_referenced(catalogue.by_name, {each.tool for each in bindings if each.tool})
        named = targets_of(catalogue, tools, targets.values())
        pages = {
            each.step: PageBasis(workflow.by_id[each.step], self._texts)
            for each in bindings
            if each.tool and catalogue.tool(each.tool).effect is ToolEffect.CHANGE
        }
        return Run(
            id=time_ordered_id(),
            ticket=_run_ticket(ticket),
            workflow_id=stored.id,
            workflow=workflow,
            bindings=bindings,
            binding_keys={each.binding.step: each.key for each in bound if each.by},
            tools=tools,
            targets=targets,
            target_sources={step: each.source for step, each in choices.items()},
            target_digests={each.name: each.digest for each in named},
            definitions={each.name: definition_of(each) for each in named},
            pages={id_: text for each in pages.values() for id_, text in each.hashes.items()},
            passages={step: each.passages for step, each in pages.items()},
            not_changing=self._reasons_not_to_change(
                stored, bound, catalogue, is_confirmed=confirmation is not None or is_dry
            ),
            not_deciding=not_deciding if wanted.mode is RunMode.SUPERVISED else {},
            mode=wanted.mode,
            limits=self._limits(catalogue),
            requested_by=caller.name,
            requested_by_id=caller.lasting_id,
            requested_at=at,
            confirmation=confirmation,
        )

    def _workflow_at_box(
        self, ticket: TicketDetail, stored: StoredWorkflow, wanted: StartRun
    ) -> StoredWorkflow:
        """Return the workflow of the one box that a person stands at, if a tool can look there.

        Raises:
            ChecklistRunError: All boxes were to be run, or more done than to look.
            RunRefusedError: It is no box, or no tool looks at it.
            NotFoundError: There is no such step.
            NotApproverError: The caller is no person.
        """
        workflow = stored.workflow
        if not wanted.step:
            raise ChecklistRunError(
                "nobody has read under which conditions this page's boxes are done: name the one"
                " that you stand at as `step`, and a tool looks there"
            )
        step = workflow.by_id.get(wanted.step)
        if step is None:
            raise NotFoundError(f"the workflow has no step {wanted.step[:60]!r}")
        if not step.block:
            raise RunRefusedError(f"step {step.id!r} is no box of a page: run the whole workflow")
        if wanted.mode is RunMode.SUPERVISED:
            raise ChecklistRunError("a box of a page is looked at: ask for a run that only looks")
        _check_person(current_caller(), Scope.RUN)
        alone = _single_box_workflow(workflow, step)
        [bound] = self._choose_bindings(alone, ticket.labels)
        if not bound.by and (
            earlier := self._orphans.at_boxes(workflow, self._catalogue()).get(step.id)
        ):
            if wanted.mode is RunMode.DRY:
                return stored.model_copy(update={"workflow": alone})
            raise RunRefusedError(
                f"how a tool looks here was approved by {earlier.by} for a step that is gone:"
                " approve it anew for this box first, as a dry run of the box shows it"
            )
        if not bound.binding.tool:
            raise RunRefusedError(f"no tool looks at this box: {bound.binding.why}")
        return stored.model_copy(update={"workflow": alone})

    def _limits(self, catalogue: Catalogue) -> Limits:
        return Limits(
            most_visits=self._settings.most_visits,
            most_calls=self._settings.most_calls,
            within_s=self._settings.within_s,
            approval_expires_s=catalogue.policy.approval_expires_s,
        )

    def _reasons_not_to_change(
        self,
        stored: StoredWorkflow,
        bound: "Sequence[_ChosenBinding]",
        catalogue: Catalogue,
        *,
        is_confirmed: bool,
    ) -> dict[str, str]:
        """Return, by step, why a change is left to a person; see `Run.not_changing`."""
        approved = self.approved_steps(stored.workflow, ApprovalUse.CHANGE)
        why: dict[str, str] = {}
        for each in bound:
            name = each.binding.tool
            if not name or catalogue.tool(name).effect is ToolEffect.READ:
                continue
            step = stored.workflow.by_id[each.binding.step]
            if stored.workflow.is_checklist:
                why[step.id] = NOBODY_READ
            elif stored.fit is not Fit.SURE:
                why[step.id] = "it is not sure that the workflow fits the ticket"
            elif not is_confirmed:
                why[step.id] = "nobody has said that this is the page"
            elif step.id not in approved:
                why[step.id] = "nobody has approved this step of the page"
            elif not each.approved_by:
                why[step.id] = "nobody has approved how it is carried out"
        return why

    def _choose_bindings(
        self, workflow: Workflow, labels: Mapping[str, str]
    ) -> "list[_ChosenBinding]":
        """Choose a binding for each step: approved and valid, else learned, else proposed.

        For a checklist only those that look: what a box changes stays a person's.
        """
        catalogue = self._catalogue()
        approved = self.approved_steps(workflow, ApprovalUse.LOOK)
        originals = {s.id: approved.get(s.id, s) for s in workflow.steps}
        as_approved = workflow.model_copy(
            update={
                "steps": tuple(
                    s.model_copy(update={"commands": originals[s.id].commands})
                    for s in workflow.steps
                )
            }
        )
        keys = {
            s.id: step_key(originals[s.id], conditions_of(workflow, s.id)) for s in workflow.steps
        }
        stored = self._bindings.load_many(list(keys.values()))
        proposed = BindingProposer(catalogue).propose(as_approved, labels)
        bound = [
            _choose_binding(each, stored.get(keys[each.step]), catalogue, labels)
            for each in proposed
        ]
        if not workflow.is_checklist:
            return bound
        before = self._orphans.at_boxes(workflow, catalogue)
        boxes = {step.id for step in workflow.steps if step.block}
        looking: list[_ChosenBinding] = []
        for each in bound:
            step = each.binding.step
            if step not in boxes:
                continue
            chosen = _propose_at_box(before[step]) if step in before and not each.by else each
            tool = catalogue.by_name.get(chosen.binding.tool)
            if tool is not None and tool.effect is ToolEffect.CHANGE:
                by_person = Binding(step=step, why=NOBODY_READ)
                chosen = _ChosenBinding(
                    binding=by_person, tool_digest="", by="", at=chosen.at, key=""
                )
            looking.append(chosen)
        return looking

    def approved_steps(self, workflow: Workflow, use: ApprovalUse) -> dict[str, Step]:
        """Return, by step, those that are approved for the use in their pages' present texts."""
        return approved_steps(workflow, self._texts, self._readings, use)

    def is_approved_to_change(self, workflow: Workflow, step: Step) -> bool:
        """Return True if the step may change something, by what is approved of its page now."""
        return step.id in self.approved_steps(workflow, ApprovalUse.CHANGE)

    def _settle(self, run_id: str, decision: RunDecision, kind: RunEventKind) -> RunDetail:
        caller, is_revised = current_caller(), False

        def event(stored: StoredRun) -> NewEvent:
            nonlocal is_revised
            approval = stored.state.open_approval
            if approval is None or stored.state.outcome:
                raise NotWaitingError("nothing waits for an approval")
            if approval.digest != decision.digest:
                raise NotWaitingError("this is not the change that waits for an approval")
            if self._clock.now() >= approval.expires_at:
                raise NotWaitingError("the time for this approval is over")
            if kind is RunEventKind.APPROVED:
                self._check_approver(caller, stored, approval)
                if (revision := self.revisions.find(stored.run, approval.place)) is not None:
                    is_revised = True
                    return revision
            facts = {"digest": approval.digest, "kind": caller.kind.value, "why": decision.word}
            return NewEvent(kind, approval.place, facts, caller.name)

        detail = self._add(run_id, event)
        if is_revised:
            raise ChangedSinceError(
                "it has changed since it was shown: nothing was approved, and it is shown again"
                " with the difference"
            )
        return detail

    def _check_approver(self, caller: Caller, stored: StoredRun, approval: Approval) -> None:
        catalogue = self._catalogue()
        where = catalogue.targets_by_name.get(approval.target)
        if caller.kind is CallerKind.LOCAL:
            if where is None or not where.is_simulated:
                raise NotApproverError("a real device is changed by leave of who signed in")
            return
        _check_person(caller)
        if catalogue.policy.requester_may_approve:
            return
        is_first = self._store.is_first_pair_of_eyes
        if is_first(caller, stored.run.requested_by_id, stored.run.requested_by):
            raise NotApproverError("whoever started a run does not approve its changes")
        step, visit = approval.place
        filled = stored.state.answers.get(
            ((step.removeprefix(UNDO_PREFIX), visit), QuestionKind.FILL)
        )
        if filled and filled.arguments and is_first(caller, filled.by_id, filled.by):
            raise NotApproverError("whoever filled in what is sent does not approve it")

    def _act(self, run_id: str, act: NewEvent) -> RunDetail:
        def event(stored: StoredRun) -> NewEvent:
            if stored.state.outcome is not None:
                raise NotWaitingError("the run is over")
            if stored.state.later_end:
                raise NotWaitingError(STOPS_LATER)
            return act

        return self._add(run_id, event)

    def _stop(self, run_id: str, end: NewEvent) -> RunDetail:
        """End a run; while a change is being sent, as soon as that has an end."""

        def event(stored: StoredRun) -> NewEvent:
            state = stored.state
            if state.outcome is not None:
                raise NotWaitingError("the run is over")
            if not state.changes_in_flight:
                return end
            if state.later_end:
                raise NotWaitingError(STOPS_LATER)
            return replace(end, kind=RunEventKind.STOPPING)

        return self._add(run_id, event)

    def _add(self, run_id: str, make: Callable[[StoredRun], NewEvent]) -> RunDetail:
        self._store.add_act(run_id, make, self._clock.now())
        return self.run(run_id)


class _ChosenBinding(ApprovedBinding):
    """A binding of a step; `by` is empty if it is proposed or learned."""

    is_changed_tool: bool = False
    approved_before: str = ""
    """Approver of the binding for a step that is gone; it needs approval anew before use."""

    @property
    def approved_by(self) -> str:
        """Name of the approver; empty if it is proposed, or its tool has changed since."""
        return "" if self.is_changed_tool else self.by


def _run_ticket(ticket: TicketDetail) -> RunTicket:
    at = ticket.resolved_at
    return RunTicket(
        id=ticket.id,
        title=ticket.title,
        labels=ticket.labels,
        resolved=at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else "",
    )


def _choose_binding(
    proposed: Binding,
    stored: ApprovedBinding | None,
    catalogue: Catalogue,
    labels: Mapping[str, str],
) -> _ChosenBinding:
    tool = catalogue.by_name.get(stored.binding.tool) if stored else None
    is_changed = tool is not None and stored is not None and tool.digest != stored.tool_digest
    if stored is None or tool is None or (is_changed and not stored.by):
        at = datetime.fromtimestamp(0, UTC)
        return _ChosenBinding(binding=proposed, tool_digest="", by="", at=at, key="")
    binding = stored.binding.model_copy(update={"step": proposed.step})
    return _ChosenBinding(
        binding=binding if stored.by else keep_named_targets(binding, catalogue, labels),
        tool_digest=stored.tool_digest,
        by=stored.by,
        at=stored.at,
        key=stored.key,
        is_changed_tool=is_changed,
    )


def _propose_at_box(before: ApprovedBinding) -> _ChosenBinding:
    """Return an approved binding of a step that is gone, as a proposal at a box."""
    why = f"as for “{before.step.text}”, a step that is gone" if before.step else ""
    return _ChosenBinding(
        binding=before.binding.model_copy(update={"why": why}),
        tool_digest=before.tool_digest,
        by="",
        at=before.at,
        key=before.key,
        approved_before=before.by,
    )


def _single_box_workflow(workflow: Workflow, step: Step) -> Workflow:
    """Return a workflow of this box alone, without what follows it on the page."""
    end = Step(id=f"{step.id}:end", kind=StepKind.TERMINAL, text="Looked at", implied=True)
    return workflow.model_copy(
        update={
            "steps": (step, end),
            "transitions": (Transition(source=step.id, target=end.id),),
            "page": None,
        }
    )


def _step_binding(
    step: Step, bound: _ChosenBinding, catalogue: Catalogue, labels: Mapping[str, str]
) -> StepBinding:
    tool = catalogue.by_name.get(bound.binding.tool)
    choice = choose_target(bound.binding, catalogue, labels) if tool else None
    return StepBinding(
        step=step.id,
        text=step.text,
        commands=step.commands,
        binding=bound.binding.model_dump(mode="json"),
        target=choice.target.name if choice and choice.target else "",
        target_from=choice.source if choice else "",
        changes=tool is not None and tool.effect is ToolEffect.CHANGE,
        approved_by=bound.approved_by,
        key=bound.key if bound.by else "",
        is_changed_tool=bound.is_changed_tool,
        approved_before=bound.approved_before,
    )


def _check_person(caller: Caller, scope: Scope = Scope.APPROVE) -> None:
    """Check that the caller is a person, or local where nobody needs to sign in.

    Raises:
        NotApproverError: The caller is neither, or lacks the scope.
    """
    if not caller.may_vouch(scope):
        raise NotApproverError(f"{caller.name} may not vouch for it: a person does, and no key")
