"""Report of a run: what was called, seen, decided and verified, and why, in Markdown."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from services.contracts.execution import RunOutcome
from services.execution.runs.events import Event, RunEventKind
from services.execution.runs.run import Run
from services.execution.runs.state import STOPS_LATER, RunState

MOST_LINES = 8
"""Most lines of evidence at each place."""

_WORDS = {
    RunOutcome.RECOVERED: "Recovered: what was changed was seen to work.",
    RunOutcome.DONE: "Done: an end of the workflow was come to.",
    RunOutcome.HANDED_OVER: "Handed over to a person.",
    RunOutcome.CANCELLED: "Cancelled.",
    RunOutcome.SIMULATED: "Dry run: nothing was sent.",
}


def report_of(run: Run, events: tuple[Event, ...], state: RunState) -> str:
    """Return the whole report; for a run that is not over, what happened so far."""
    head = [f"# {run.workflow.title}", ""]
    if state.outcome is not None:
        stop = "" if not state.why or state.why.endswith((".", "!", "?")) else "."
        head += [f"**{_WORDS[state.outcome]}** {state.why}{stop}", ""]
    head += [
        f"Run {run.id}, {run.mode.value.replace('_', ' ')}, started by {run.requested_by}.",
        f"Ticket: {run.ticket.title}",
        "",
    ]
    if run.confirmation and run.confirmation.against:
        objections = "; ".join(run.confirmation.against)
        head += [f"{run.confirmation.by} said that this is the page, although: {objections}.", ""]
    return "\n".join([*head, *(line for event in events for line in _lines(run, event))]) + "\n"


def _lines(run: Run, event: Event) -> Iterator[str]:  # noqa: C901, PLR0912, PLR0915 - a case a kind
    facts = event.facts
    at = datetime.fromtimestamp(event.at, UTC).strftime("%H:%M:%S")
    by_id = run.workflow.by_id
    step_text = by_id[event.step].text if event.step in by_id else ""
    match event.kind:
        case RunEventKind.OBSERVED if facts["purpose"] != "verify":
            yield f"- {at} looked at {facts['target']}: `{facts['shown']}`"
            yield from _evidence(facts["lines"])
        case RunEventKind.NOT_OBSERVED:
            yield f"- {at} could not look at {facts['target']}: {facts['why']}"
        case RunEventKind.DECIDED:
            who = event.by or facts["by"]
            yield f"- {at} **{step_text}** {facts['answer']} (by {who})"
            if facts["by"] == "evidence":
                yield f"  - because {_because(facts)}"
        case RunEventKind.APPROVAL_REQUESTED:
            yield f"- {at} asked for leave to change {facts['target']}: `{facts['shown']}`"
            for each in facts.get("differences", ()):
                yield f"  - {each['what']} was `{each['was']}`, now `{each['now']}`"
        case RunEventKind.REVISED:
            yield f"- {at} not as it was shown any more: it is shown again before it may be sent"
        case RunEventKind.RENEWED if facts["why"]:
            yield f"- {at} asks anew: {facts['why']}"
        case RunEventKind.APPROVED | RunEventKind.DENIED:
            why = f": {facts['why']}" if facts.get("why") else ""
            yield f"- {at} {event.kind.value} by {event.by or 'the executor'}{why}"
        case RunEventKind.EXPIRED:
            yield f"- {at} nobody approved it in time"
        case RunEventKind.CHANGED:
            yield f"- {at} **changed {facts['target']}**: `{facts['shown']}`"
            yield from _evidence(facts["lines"])
        case RunEventKind.NOT_SENT | RunEventKind.UNKNOWN:
            outcome = (
                "was not sent"
                if event.kind is RunEventKind.NOT_SENT
                else "may have been made or not"
            )
            yield f"- {at} a change {outcome}: {facts['why']}"
        case RunEventKind.VERIFIED:
            yield f"- {at} verified"
            yield from _evidence(facts["lines"])
        case RunEventKind.NOT_VERIFIED:
            yield f"- {at} **not verified**: {facts['why']}"
        case RunEventKind.ANSWERED:
            word = f": {facts['word']}" if facts.get("word") else ""
            yield f"- {at} {event.by} said {facts['option']!r}{word}"
        case RunEventKind.LEFT if facts["how"] in {"by_person", "skipped"}:
            how = "done by a person" if facts["how"] == "by_person" else "skipped"
            yield f"- {at} {how}: {step_text}"
        case RunEventKind.UNDONE:
            yield f"- {at} taken back: {step_text}"
        case RunEventKind.STOPPING:
            yield f"- {at} {facts['why']}: {STOPS_LATER}"
        case RunEventKind.PAUSED | RunEventKind.RESUMED | RunEventKind.TAKEN_OVER:
            yield f"- {at} {event.kind.value.replace('_', ' ')} by {event.by}"
        case _:
            return


def _because(facts: Mapping[str, Any]) -> str:
    """Return the values of the fields, with what each answer requires."""
    readings = ", ".join(f"{name.replace('_', ' ')} was {v}" for name, v in facts["told"].items())
    wanted = "; ".join(
        f"{answer}: {' and '.join(tests)}" for answer, tests in facts["tests"].items() if tests
    )
    return f"{readings} ({wanted})"


def _evidence(lines: list[str]) -> Iterator[str]:
    for line in lines[:MOST_LINES]:
        if line.strip():
            yield f"      {line}"
