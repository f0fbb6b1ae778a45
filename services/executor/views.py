"""A run as people see it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from services.contracts.execution import (
    RunApproval,
    RunDetail,
    RunEvent,
    RunMode,
    RunQuestion,
    RunStep,
)
from services.executor.bindings.binding import Binding, Origin
from services.executor.runs.events import Event, Kind
from services.executor.runs.report import report_of
from services.executor.runs.run import Run
from services.executor.runs.state import RunState
from services.executor.runs.store import StoredRun
from services.executor.tools.tool import Effect, Tool
from services.workflow.model import Step, StepKind, Workflow

MOST_PATHS = 1_000


def detail_of(stored: StoredRun) -> RunDetail:
    """A run with all that happened."""
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
        requested_by=run.requested_by,
        requested_at=run.requested_at,
        workflow_id=run.workflow_id,
        confirmed_by=seen.by if seen else "",
        against=seen.against if seen else (),
        steps=tuple(
            _step(run, step, number, stored.events, state)
            for number, step in enumerate(run.workflow.steps, 1)
        ),
        paths=paths_of(run.workflow),
        question=_question(stored.events, state),
        approval=_approval(state),
        events=tuple(
            RunEvent(**e.model_dump(exclude={"at"}), at=datetime.fromtimestamp(e.at, UTC))
            for e in stored.events
        ),
        report=report_of(run, stored.events, state)
        if state.outcome and run.mode is not RunMode.DRY
        else "",
    )


def paths_of(workflow: Workflow) -> int:
    """Ways from the start to an end that come to no step twice; of very many `MOST_PATHS`."""
    found = 0
    waiting: list[tuple[str, frozenset[str]]] = [(workflow.steps[0].id, frozenset())]
    while waiting and found < MOST_PATHS:
        step, before = waiting.pop()
        exits = [e.target for e in workflow.exits(step) if e.target not in before | {step}]
        if not exits:
            found += 1
        waiting += [(target, before | {step}) for target in exits]
    return found


def _step(run: Run, step: Step, number: int, events: Sequence[Event], state: RunState) -> RunStep:
    binding = run.binding_of.get(step.id)
    tool = run.tool_named.get(binding.tool) if binding else None
    changes = tool is not None and tool.effect is Effect.CHANGE
    came, evidence = _came(step, events)
    return RunStep(
        id=step.id,
        number=number,
        kind=step.kind.value,
        text=step.text,
        commands=step.commands,
        tool=tool.name if tool else "",
        target=run.targets.get(step.id, "") if tool else "",
        shown=tool.shown(_known(run, binding)) if tool and binding else "",
        changes=changes,
        by_person=_by_person(run, step, binding, tool),
        undo=(tool.undo.tool if tool.undo else "none") if tool and changes else "",
        dry_run=(tool.dry_run.tool if tool.dry_run else "none") if tool and changes else "",
        answers={
            a.condition: "; ".join(map(str, a.tests)) or "otherwise"
            for a in (binding.answers if binding else ())
        },
        why=binding.why if binding else "",
        visits=state.visits[step.id],
        came=came,
        evidence=evidence,
        is_current=state.outcome is None and state.now[0] == step.id,
    )


def _by_person(  # noqa: PLR0911 - what comes first wins
    run: Run, step: Step, binding: Binding | None, tool: Tool | None
) -> str:
    if step.kind is StepKind.TERMINAL or step.settled:
        return ""
    if binding is None or tool is None:
        return binding.why if binding else "no tool"
    if step.id not in run.targets:
        return f"the ticket names no known {tool.target}"
    if tool.effect is Effect.CHANGE:
        if run.mode is RunMode.READ_ONLY:
            return "this run changes nothing"
        if why := run.not_changing.get(step.id):
            return why
    if step.kind is StepKind.DECISION and not binding.answers:
        return "nothing tells its answers apart"
    if why := run.not_deciding.get(step.id):
        return why
    filled = [n for n, a in binding.arguments.items() if a.origin is Origin.PERSON]
    return f"a person fills in {', '.join(filled)}" if filled else ""


def _known(run: Run, binding: Binding) -> dict[str, str]:
    """Its arguments as far as they are known before the run; others by their names."""
    known = {}
    for name, argument in binding.arguments.items():
        of_label = run.ticket.labels.get(argument.value, f"<{name}>")
        shown = {Origin.GIVEN: argument.value, Origin.LABEL: of_label}
        known[name] = shown.get(argument.origin, f"<{name}>")
    return known


def _came(step: Step, events: Sequence[Event]) -> tuple[str, tuple[str, ...]]:
    """What became of it at its last visit."""
    came, evidence = "", tuple[str, ...]()
    for event in events:
        if event.step != step.id:
            continue
        facts = event.facts
        match event.kind:
            case Kind.ENTERED:
                came, evidence = "", ()
            case Kind.DECIDED:
                came, evidence = str(facts["answer"]), tuple(facts.get("evidence", ()))
            case Kind.OBSERVED | Kind.CHANGED:
                came = "changed" if event.kind is Kind.CHANGED else came or "looked"
                evidence = tuple(facts["lines"])
            case Kind.VERIFIED | Kind.NOT_VERIFIED | Kind.DENIED | Kind.EXPIRED | Kind.UNKNOWN:
                came = event.kind.value.replace("_", " ")
            case Kind.LEFT if facts["how"] in {"by_person", "skipped"}:
                came = "done by a person" if facts["how"] == "by_person" else "skipped"
            case Kind.UNDONE:
                came = "taken back"
            case _:
                pass
    return came, evidence


def _question(events: Sequence[Event], state: RunState) -> RunQuestion | None:
    asked = state.question
    if asked is None:
        return None
    facts = next(event.facts for event in events if event.seq == asked.seq)
    return RunQuestion(
        seq=asked.seq,
        what=asked.what.value,
        text=asked.text,
        options=asked.options,
        fills=tuple(facts.get("fills", ())),
        evidence=asked.evidence,
        step=asked.place[0],
    )


def _approval(state: RunState) -> RunApproval | None:
    asked = state.open_approval if state.outcome is None else None
    if asked is None:
        return None
    return RunApproval(
        digest=asked.digest,
        step=asked.place[0],
        tool=asked.tool,
        target=asked.target,
        shown=asked.shown,
        undo=asked.undo,
        simulated=asked.simulated,
        expires_at=datetime.fromtimestamp(asked.expires_at, UTC),
    )
