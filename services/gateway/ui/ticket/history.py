"""What happened to a ticket, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.contracts.gateway import ProgressEvent

_WORDS = {
    "received": "came in from {source}",
    "planned": "a workflow was made, the best of {candidates}",
    "refused": "nothing known fits",
    "failed": "the walk broke",
    "asked": "a question was asked",
    "answered": "the question was answered, and the workflow made again",
    "not_known": "the answer to the question is not known",
    "went_on": "went on without questions",
    "commented": "a comment came from the ticket's own system",
    "retried": "tried again",
    "caught_up": "made again, since what did not answer may do so by now",
    "triaged": "triage chose the team {team}",
    "assigned": "given to the team {team}",
    "resolved": "the fault is over",
    "reopened": "it broke again",
    "repeated": "{alerts} alerts by now",
    "archived": "kept as a case of {document}",
    "told": "{target} was told",
    "not_told": "{target} could not be told",
    "edited": "version {version} of the workflow was made",
    "accepted": "the workflow was accepted",
    "rejected": "the workflow was rejected",
    "taken_back": "what was said of the workflow was taken back",
    "doubted": "the reading of {document} is in doubt by it",
}
_MARKS = {"done": "was done", "skipped": "was skipped", "open": "is open again"}


@dataclass(frozen=True)
class Told:
    """One thing that happened."""

    at: datetime
    words: str
    by: str
    """Empty where the platform did it."""


def history_of(events: Sequence[ProgressEvent], numbers: Mapping[str, int]) -> list[Told]:
    """The latest first; how far a walk was is left out. `numbers` names the steps shown now."""
    told = [
        Told(event.at, words, str(event.facts.get("by", "")) if event.kind in _BY_PEOPLE else "")
        for event in events
        if (words := _words(event, numbers))
    ]
    return told[::-1]


_BY_PEOPLE = {"marked", "judged", "edited", "accepted", "rejected", "taken_back"}


class _Facts(dict[str, Any]):
    """Facts of an event; what it does not say is told as a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def _words(event: ProgressEvent, numbers: Mapping[str, int]) -> str:
    facts = event.facts
    number = numbers.get(str(facts.get("step", "")))
    step = f"step {number}" if number else "a step that is not shown"
    if event.kind == "marked":
        return f"{step} {_MARKS.get(str(facts.get('mark')), 'was marked')}"
    if event.kind == "judged":
        verdict = facts.get("verdict", "judged")
        return f"what was said of {step} was {verdict}" if verdict == _BACK else f"{step} {verdict}"
    return _WORDS.get(event.kind, "").format_map(_Facts(facts))


_BACK = "taken back"
