"""What happened to a ticket, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.contracts.gateway import ProgressEvent
from services.gateway.ticket.event_kinds import KINDS

_MARKS = {
    "done": "was done",
    "skipped": "was skipped",
    "open": "is open again",
    "not_applicable": "does not apply",
}


@dataclass(frozen=True)
class PastEvent:
    """One thing that happened."""

    at: datetime
    words: str
    by: str
    """Empty where the platform did it."""


def history_of(events: Sequence[ProgressEvent], names: Mapping[str, str]) -> list[PastEvent]:
    """The latest first; how far a walk was is left out. `names` are of steps shown now."""
    told = [
        PastEvent(
            event.at,
            words,
            str(event.facts.get("by", "")) if KINDS[event.kind].is_by_person else "",
        )
        for event in events
        if (words := _words(event, names))
    ]
    return told[::-1]


def after_end(events: Sequence[ProgressEvent]) -> dict[str, Any]:
    """What came of the word that the fault is over: the archived case, and systems that know."""
    since: list[ProgressEvent] = []
    for event in events:
        since = [] if event.kind == "resolved" else [*since, event]
    learned = [event for event in since if event.kind == "archived"]
    told = [event for event in events if event.kind == "told"]
    documents = dict.fromkeys(str(event.facts["document"]) for event in learned)
    return {
        "after_end": [f"The ticket was kept as a case of {document}" for document in documents],
        "learned": bool(learned),
        "told_systems": list(dict.fromkeys(str(event.facts["target"]) for event in told)),
    }


def seen_of(events: Sequence[ProgressEvent], workflow_id: str) -> dict[str, Mapping[str, str]]:
    """What looks told of the workflow's questions, by the ids of their steps."""
    looks = (e for e in events if e.kind == "looked" and e.facts.get("workflow") == workflow_id)
    return {str(each["step"]): each for look in looks for each in look.facts["seen"]}


class _Facts(dict[str, Any]):
    """Facts of an event; what it does not say is told as a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def _words(event: ProgressEvent, names: Mapping[str, str]) -> str:
    facts = event.facts
    step = names.get(str(facts.get("step", "")), "a step that is not shown")
    verdict, team = facts.get("verdict", "judged"), facts.get("team")
    told = {
        "step": step,
        "marked": _MARKS.get(str(facts.get("mark")), "was marked"),
        "judged": f"what was said of {step} was {_BACK}"
        if verdict == _BACK
        else f"{step} {verdict}",
        "found": f"triage chose the team {team}" if team else "no team was found",
    }
    kind = KINDS.get(event.kind)
    return kind.words.format_map(_Facts(facts | told)) if kind else ""


_BACK = "taken back"
