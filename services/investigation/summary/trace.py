"""Trace of a ticket: the tool calls that were made, without what the platform had planned."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from services.contracts.execution import RunOutcome
from services.execution.runs.events import RunEventKind
from services.execution.runs.moves import UNDO_PREFIX
from services.execution.runs.store import StoredRun
from services.execution.tools.compare import Fields, Scalar
from services.execution.tools.tool import ToolEffect
from services.investigation.search.store import StoredSearch
from services.kit.access.caller import LOCAL_TEACHER
from services.kit.observability.redaction import E_MAIL, PHONE, SECRET, redact_field
from services.kit.value import Value

HIDDEN = (SECRET, E_MAIL, PHONE)
"""Replacements of a secret, or of what identifies a person."""
_LEAST_SECRET = 4
"""Least characters of a secret that is searched for elsewhere."""


class Call(Value):
    """One call of a tool."""

    tool: str
    effect: ToolEffect
    kind: str = ""
    """Kind of the target, as tools name it."""
    target: str
    arguments: Mapping[str, str] = Field(default={})
    fields: Mapping[str, Scalar] = Field(default={})
    """Fields of the output; empty for a failed call."""
    at: float = Field(ge=0)
    """Seconds since the trace begins."""
    succeeded: bool = True
    verified: bool = False
    """True if it is a change that was seen to work."""
    undone: bool = False
    """True if it is a change that was taken back."""
    undoes: bool = False
    """True if it takes a change back."""


class Trace(Value):
    """The calls about one ticket, in order, and how they ended."""

    id: str = Field(min_length=1, max_length=200)
    """Id of the run; for the work of a person or a search, an id by whoever recorded it."""
    ticket: str
    labels: Mapping[str, str] = Field(default={})
    begins_at: float = 0.0
    """Seconds since the epoch."""
    calls: tuple[Call, ...] = ()
    ended: RunOutcome
    by_hand: bool = False
    """True if somebody also acted outside the calls, unrecorded."""
    teacher: str = LOCAL_TEACHER
    """Person or source that it counts for; this machine's own if somebody recorded it, and nobody
    for what the platform did by itself.
    """


def trace_of(stored: StoredRun) -> Trace:
    """Build the trace of a run: tools, arguments and outputs, redacted."""
    run, state = stored.run, stored.state
    begins_at = stored.events[0].at if stored.events else 0.0
    calls = []
    for event in stored.events:
        if event.kind not in _CALLS or event.facts["tool"] not in run.tool_named:
            continue
        tool, place = run.tool_named[event.facts["tool"]], (event.step, event.visit)
        is_change = event.kind in {
            RunEventKind.CHANGED,
            RunEventKind.NOT_SENT,
            RunEventKind.UNKNOWN,
        }
        calls.append(
            Call(
                tool=tool.name,
                effect=tool.effect,
                kind=tool.target,
                target=event.facts["target"],
                arguments=event.facts["arguments"],
                fields=event.facts.get("fields", {}),
                at=max(0.0, event.at - begins_at),
                succeeded=event.kind in {RunEventKind.OBSERVED, RunEventKind.CHANGED},
                verified=is_change and state.verified.get(place) is RunEventKind.VERIFIED,
                undone=is_change and place in state.undone,
                undoes=is_change and event.step.startswith(UNDO_PREFIX),
            )
        )
    trace = Trace(
        id=run.id,
        ticket=run.ticket.id,
        labels=run.ticket.labels,
        begins_at=begins_at,
        calls=tuple(calls),
        ended=state.outcome or RunOutcome.CANCELLED,
        by_hand=any(
            event.kind is RunEventKind.LEFT and event.facts.get("how") == "by_person"
            for event in stored.events
        ),
    )
    return without_secrets(trace)


def trace_of_search(stored: StoredSearch) -> Trace:
    """Build a trace of the looks that a search's answer rests on; empty if it found nothing."""
    search, state = stored.search, stored.state
    claims = state.answer.claims if state.answer else ()
    cited = {each.observation for claim in claims if not claim.struck for each in claim.cited}
    calls = tuple(
        Call(
            tool=seen.call.tool,
            effect=ToolEffect.READ,
            kind=search.tool_named[seen.call.tool].target,
            target=seen.call.target,
            arguments=seen.call.arguments,
            fields=seen.fields,
            at=max(0.0, seen.at - state.begun_at),
        )
        for seen in sorted(state.observations.values(), key=lambda each: each.seq)
        if seen.id in cited and seen.call.tool in search.tool_named
    )
    trace = Trace(
        id=search.id,
        ticket=search.ticket.id,
        labels=search.ticket.labels,
        begins_at=state.begun_at,
        calls=calls,
        ended=RunOutcome.HANDED_OVER,
        teacher="",
    )
    return without_secrets(trace)


_CALLS = frozenset(
    {
        RunEventKind.OBSERVED,
        RunEventKind.NOT_OBSERVED,
        RunEventKind.CHANGED,
        RunEventKind.NOT_SENT,
        RunEventKind.UNKNOWN,
    }
)


def join_traces(traces: Iterable[Trace]) -> tuple[Trace, ...]:
    """Return one trace for each ticket: several are joined by time, and end as the last did."""
    by_ticket: dict[str, list[Trace]] = {}
    for each in traces:
        by_ticket.setdefault(each.ticket, []).append(each)
    return tuple(_join(mine) for mine in by_ticket.values())


def _join(traces: Sequence[Trace]) -> Trace:
    in_time = sorted(traces, key=lambda each: (each.begins_at, each.id))
    first = in_time[0]
    if len(in_time) == 1:
        return first
    calls = [
        call.model_copy(update={"at": call.at + each.begins_at - first.begins_at})
        for each in in_time
        for call in each.calls
    ]
    return first.model_copy(
        update={
            "id": "+".join(each.id for each in in_time)[:200],
            "calls": tuple(sorted(calls, key=lambda call: call.at)),
            "ended": in_time[-1].ended,
            "by_hand": any(each.by_hand for each in in_time),
            "teacher": next((each.teacher for each in in_time if each.teacher), ""),
        }
    )


def without_secrets(trace: Trace) -> Trace:
    """Return the trace redacted; a secret found at one place is hidden at every other."""
    labels = {name: _text(name, value) for name, value in trace.labels.items()}
    secrets = [
        value
        for name, value in trace.labels.items()
        if labels[name] in HIDDEN and len(value) >= _LEAST_SECRET
    ]
    for call in trace.calls:
        for name, value in (*call.arguments.items(), *call.fields.items()):
            is_text = isinstance(value, str) and len(value) >= _LEAST_SECRET
            if is_text and redact_field(name, value) in HIDDEN:
                secrets.append(str(value))
    return trace.model_copy(
        update={
            "labels": {name: _without(value, secrets) for name, value in labels.items()},
            "calls": tuple(_redacted(call, secrets) for call in trace.calls),
        }
    )


def _redacted(call: Call, secrets: Sequence[str]) -> Call:
    arguments = {
        name: _without(_text(name, value), secrets) for name, value in call.arguments.items()
    }
    fields: Fields = {
        name: _without(_text(name, value), secrets) if isinstance(value, str) else value
        for name, value in call.fields.items()
    }
    return call.model_copy(update={"arguments": arguments, "fields": fields})


def _text(name: str, value: str) -> str:
    return str(redact_field(name, value))


def _without(value: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        value = value.replace(secret, SECRET)
    return value


def is_hidden(value: object) -> bool:
    """Return True if something was redacted in a value: it is of no use any more."""
    return isinstance(value, str) and any(mark in value for mark in HIDDEN)
