"""History of a ticket in words, from its events."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.contracts.gateway import ProgressEvent
from services.tickets.ticket.event_kinds import KINDS

_MARKS = {
    "done": "was done",
    "skipped": "was skipped",
    "open": "is open again",
    "not_applicable": "does not apply",
}


@dataclass(frozen=True)
class PastEvent:
    """One entry of the history."""

    at: datetime
    words: str
    by: str
    """Name of the person who did it; empty if the platform did."""


def history_of(events: Sequence[ProgressEvent], names: Mapping[str, str]) -> list[PastEvent]:
    """Return the history, the latest first and without the progress of walks.

    `names` are the names of the steps that are shown now, by id.
    """
    entries = [
        PastEvent(
            event.at,
            words,
            str(event.facts.get("by", "")) if KINDS[event.kind].is_by_person else "",
        )
        for event in events
        if (words := _describe(event, names))
    ]
    return entries[::-1]


def after_end(events: Sequence[ProgressEvent]) -> dict[str, Any]:
    """Return what followed the ticket's resolution: the archived case, and the systems told."""
    since: list[ProgressEvent] = []
    for event in events:
        since = [] if event.kind == "resolved" else [*since, event]
    archived = [event for event in since if event.kind == "archived"]
    write_backs = [event for event in events if event.kind == "told"]
    documents = dict.fromkeys(str(event.facts["document"]) for event in archived)
    return {
        "after_end": [f"The ticket was kept as a case of {document}" for document in documents],
        "learned": bool(archived),
        "told_systems": list(dict.fromkeys(str(event.facts["target"]) for event in write_backs)),
    }


def evidence_by_step(
    events: Sequence[ProgressEvent], workflow_id: str
) -> dict[str, Mapping[str, str]]:
    """Return the evidence of diagnostic runs on the workflow's questions, by step id."""
    looks = (e for e in events if e.kind == "looked" and e.facts.get("workflow") == workflow_id)
    return {str(each["step"]): each for look in looks for each in look.facts["seen"]}


def reason_not_looked(events: Sequence[ProgressEvent], workflow_id: str) -> str:
    """Return why the latest diagnostic run left the rest to a person; empty if it could go on."""
    looks = [e for e in events if e.kind == "looked" and e.facts.get("workflow") == workflow_id]
    return str(looks[-1].facts.get("left", "")) if looks else ""


def _describe(event: ProgressEvent, names: Mapping[str, str]) -> str:
    """Describe an event in words; a missing fact is a dash."""
    facts = event.facts
    step = names.get(str(facts.get("step", "")), "a step that is not shown")
    verdict, team = facts.get("verdict", "judged"), facts.get("team")
    phrases = {
        "step": step,
        "marked": _MARKS.get(str(facts.get("mark")), "was marked"),
        "judged": f"what was said of {step} was {_BACK}"
        if verdict == _BACK
        else f"{step} {verdict}",
        "found": f"triage chose the team {team}" if team else "no team was found",
    }
    kind = KINDS.get(event.kind)
    return kind.words.format_map(defaultdict(lambda: "–", facts | phrases)) if kind else ""


_BACK = "taken back"
