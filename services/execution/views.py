"""Views of a run, as people see it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from services.contracts.execution import (
    RunApproval,
    RunDetail,
    RunDifference,
    RunEvent,
    RunMode,
    RunPassage,
    RunQuestion,
    RunStep,
)
from services.execution.bindings.binding import Binding, Origin
from services.execution.runs.events import Event, RunEventKind
from services.execution.runs.moves import refusal
from services.execution.runs.report import report_of
from services.execution.runs.run import Run
from services.execution.runs.state import RunState
from services.execution.runs.store import StoredRun
from services.workflow.model import Step, StepKind, Workflow

MOST_PATHS = 1_000


def detail_of(stored: StoredRun) -> RunDetail:
    """Return a run with all that happened."""
    run, state = stored.run, stored.state
    seen = run.confirmation
    return RunDetail(
        id=run.id,
        ticket_id=run.ticket.id,
        ticket_title=run.ticket.title,
        title=run.workflow.title,
        mode=run.mode,
        phase=state.phase,
        outcome=state.outcome,
        why=state.why or stored.waits_for,
        is_stopping=bool(state.later_end) and state.outcome is None,
        requested_by=run.requested_by,
        requested_at=run.requested_at,
        workflow_id=run.workflow_id,
        confirmed_by=seen.by if seen else "",
        against=seen.against if seen else (),
        steps=tuple(
            _step(run, step, number, stored.events, state)
            for number, step in enumerate(run.workflow.steps, 1)
        ),
        paths=count_paths(run.workflow),
        question=_question(stored.events, state),
        approval=_approval(state),
        events=tuple(
            RunEvent(
                **e.model_dump(exclude={"at": True, "facts": {"by_id"}}),
                at=datetime.fromtimestamp(e.at, UTC),
            )
            for e in stored.events
        ),
        report=report_of(run, stored.events, state)
        if state.outcome and run.mode is not RunMode.DRY
        else "",
    )


def count_paths(workflow: Workflow) -> int:
    """Count paths from the start to an end without a repeated step, up to `MOST_PATHS`."""
    count = 0
    waiting: list[tuple[str, frozenset[str]]] = [(workflow.steps[0].id, frozenset())]
    while waiting and count < MOST_PATHS:
        step, before = waiting.pop()
        exits = [e.target for e in workflow.exits(step) if e.target not in before | {step}]
        if not exits:
            count += 1
        waiting += [(target, before | {step}) for target in exits]
    return count


def _step(run: Run, step: Step, number: int, events: Sequence[Event], state: RunState) -> RunStep:
    binding = run.binding_of.get(step.id)
    tool, changes = run.tool_of(step.id), run.changes(step.id)
    status, evidence = _latest_status(step, events)
    return RunStep(
        id=step.id,
        number=number,
        kind=step.kind.value,
        text=step.text,
        commands=step.commands,
        tool=tool.name if tool else "",
        target=run.targets.get(step.id, "") if tool else "",
        target_from=run.target_sources.get(step.id, "") if tool else "",
        shown=tool.shown(_arguments_before_run(run, binding)) if tool and binding else "",
        changes=changes,
        by_person=_why_manual(run, step, binding),
        undo=(tool.undo.tool if tool.undo else "none") if tool and changes else "",
        dry_run=(tool.dry_run.tool if tool.dry_run else "none") if tool and changes else "",
        answers={
            a.condition: "; ".join(map(str, a.tests)) or "otherwise"
            for a in (binding.answers if binding else ())
        },
        why=binding.why if binding else "",
        visits=state.visits[step.id],
        came=status,
        evidence=evidence,
        is_current=state.outcome is None and state.now[0] == step.id,
    )


def _why_manual(run: Run, step: Step, binding: Binding | None) -> str:
    if step.kind is StepKind.TERMINAL or step.settled:
        return ""
    if binding is None:
        return "no tool"
    mode = RunMode.SUPERVISED if run.mode is RunMode.DRY else run.mode
    if (why := refusal(run, step, mode)) is not None:
        return why
    if step.kind is StepKind.DECISION and not binding.answers:
        return "nothing tells its answers apart"
    filled = [n for n, a in binding.arguments.items() if a.origin is Origin.PERSON]
    fills = f"a person fills in {', '.join(filled)}" if filled else ""
    return run.not_deciding.get(step.id, fills)


def _arguments_before_run(run: Run, binding: Binding) -> dict[str, str]:
    """Return the arguments that are fixed before the run, and a placeholder for each other one."""
    shown_arguments = {}
    for name, argument in binding.arguments.items():
        of_label = run.ticket.labels.get(argument.value, f"<{name}>")
        shown = {Origin.LITERAL: argument.value, Origin.LABEL: of_label}
        shown_arguments[name] = shown.get(argument.origin, f"<{name}>")
    return shown_arguments


def _latest_status(step: Step, events: Sequence[Event]) -> tuple[str, tuple[str, ...]]:
    """Return the status of a step at its last visit, and its evidence."""
    status, evidence = "", tuple[str, ...]()
    for event in events:
        if event.step != step.id:
            continue
        facts = event.facts
        match event.kind:
            case RunEventKind.ENTERED:
                status, evidence = "", ()
            case RunEventKind.DECIDED:
                status, evidence = str(facts["answer"]), tuple(facts.get("evidence", ()))
            case RunEventKind.OBSERVED | RunEventKind.CHANGED:
                status = "changed" if event.kind is RunEventKind.CHANGED else status or "looked"
                evidence = tuple(facts["lines"])
            case (
                RunEventKind.VERIFIED
                | RunEventKind.NOT_VERIFIED
                | RunEventKind.DENIED
                | RunEventKind.EXPIRED
                | RunEventKind.UNKNOWN
            ):
                status = event.kind.value.replace("_", " ")
            case RunEventKind.LEFT if facts["how"] in {"by_person", "skipped"}:
                status = "done by a person" if facts["how"] == "by_person" else "skipped"
            case RunEventKind.UNDONE:
                status = "taken back"
            case _:
                pass
    return status, evidence


def _question(events: Sequence[Event], state: RunState) -> RunQuestion | None:
    question = state.question
    if question is None:
        return None
    facts = next(event.facts for event in events if event.seq == question.seq)
    return RunQuestion(
        seq=question.seq,
        what=question.what.value,
        text=question.text,
        options=question.options,
        fills=tuple(facts.get("fills", ())),
        evidence=question.evidence,
        step=question.place[0],
    )


def _approval(state: RunState) -> RunApproval | None:
    approval = state.open_approval if state.outcome is None else None
    if approval is None:
        return None
    return RunApproval(
        digest=approval.digest,
        step=approval.place[0],
        tool=approval.tool,
        target=approval.target,
        shown=approval.shown,
        undo=approval.undo,
        simulated=approval.simulated,
        passages=tuple(
            RunPassage(**each.citation.model_dump(), text=each.text) for each in approval.passages
        ),
        definition=approval.definition,
        again=approval.again,
        differences=tuple(RunDifference(**each.model_dump()) for each in approval.differences),
        warnings=approval.warnings,
        expires_at=datetime.fromtimestamp(approval.expires_at, UTC),
    )
