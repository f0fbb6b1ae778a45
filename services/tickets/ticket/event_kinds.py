"""Kinds of ticket events, each with its texts, its metric and what follows from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prometheus_client import Counter

from services.tickets.metrics import (
    ANSWERS,
    JUDGED_STEPS,
    JUDGED_WORKFLOWS,
    JUDGEMENTS,
    QUESTIONS,
    TRIAGE,
    WRITE_BACKS,
)

Facts = Mapping[str, object]


@dataclass(frozen=True)
class EventKind:
    """Kind of ticket event, identified by the name under which its events are stored."""

    name: str
    words: str = ""
    """Text in the ticket's history, with facts in braces; if empty, it is not shown there."""
    stage: str = ""
    """Progress text of the first walk, for whoever waits."""
    is_progress: bool = False
    """True if it only reports a walk's progress: neither counted nor in the audit log."""
    begins_walk: bool = False
    """True if the ticket is walked again after it."""
    ends_walk: bool = False
    is_announced: bool = False
    """True if the systems that follow the ticket are notified."""
    is_by_person: bool = False
    """True if its facts name who did it."""
    is_by_source: bool = False
    """True if the ticket's own system reported it: nobody here has worked on the ticket."""
    audited: tuple[str, ...] = ()
    """Names of the facts that the audit log keeps: none reveals what a ticket is about."""
    counter: Callable[[Facts], Counter | None] = lambda _facts: None
    """Counter to increment for an event with these facts; None if it is not counted."""


def _decision(facts: Facts) -> Counter:
    return TRIAGE.labels(str(facts["by"]), "assigned" if facts["team"] else "abstained")


_KINDS = (
    EventKind("received", "came in from {source}", stage="Ticket stored", audited=("source",)),
    EventKind("planning", stage="Searching the documents", is_progress=True),
    EventKind("retrieved", stage="Writing candidate workflows", is_progress=True),
    EventKind(
        "candidate",
        stage="A first candidate is written; a model may add others",
        is_progress=True,
    ),
    EventKind("drafted", stage="Scoring them", is_progress=True),
    EventKind(
        "planned",
        "a workflow was made, the best of {candidates}",
        ends_walk=True,
        is_announced=True,
        audited=("workflow_id", "fit", "candidates"),
        counter=lambda facts: ANSWERS.labels(str(facts["fit"])),
    ),
    EventKind(
        "refused",
        "nothing known fits",
        ends_walk=True,
        is_announced=True,
        counter=lambda _facts: ANSWERS.labels("refused"),
    ),
    EventKind(
        "failed",
        "the walk broke",
        ends_walk=True,
        counter=lambda _facts: ANSWERS.labels("failed"),
    ),
    EventKind("retried", "tried again", begins_walk=True),
    EventKind(
        "caught_up", "made again, since what did not answer may do so by now", begins_walk=True
    ),
    EventKind(
        "asked",
        "a question was asked",
        is_announced=True,
        counter=lambda _facts: QUESTIONS.labels("asked"),
    ),
    EventKind(
        "answered",
        "the question was answered, and the workflow made again",
        begins_walk=True,
        counter=lambda _facts: QUESTIONS.labels("answered"),
    ),
    EventKind(
        "renewed",
        "made again with the page's reading as it is now",
        begins_walk=True,
        is_by_person=True,
    ),
    EventKind(
        "page_chosen",
        "made again with another page, or surer of its page: {by} compared the nearest ones",
        begins_walk=True,
        audited=("document",),
    ),
    EventKind(
        "page_offered",
        "{by} finds another page to fit better, {document}; the workflow stayed, since somebody "
        "works with it",
        audited=("document",),
    ),
    EventKind(
        "not_known",
        "the answer to the question is not known",
        counter=lambda _facts: QUESTIONS.labels("not_known"),
    ),
    EventKind(
        "not_settled",
        "an answer in own words did not settle the question; it is kept",
        counter=lambda _facts: QUESTIONS.labels("not_settled"),
    ),
    EventKind(
        "went_on",
        "went on without questions",
        counter=lambda _facts: QUESTIONS.labels("went_on"),
    ),
    EventKind(
        "commented",
        "a comment came from the ticket's own system",
        is_by_source=True,
        audited=("source",),
    ),
    EventKind("triaged", "{found}", is_announced=True, counter=_decision),
    EventKind("assigned", "given to the team {team}", is_announced=True, counter=_decision),
    EventKind("taken", "taken", is_by_person=True),
    EventKind("taken_over", "taken over from {from}", is_by_person=True),
    EventKind("given_back", "given back", is_by_person=True),
    EventKind("handed_back", "the hand-over was taken back", is_announced=True, is_by_person=True),
    EventKind("resolved", "the fault is over"),
    EventKind("not_over", "the fault is not over after all", is_announced=True, is_by_person=True),
    EventKind("reopened", "it broke again", is_by_source=True, audited=("alerts",)),
    EventKind("repeated", "{alerts} alerts by now", is_by_source=True, audited=("alerts",)),
    EventKind(
        "relabelled",
        "other labels came from its own system: {labels}",
        is_by_source=True,
        audited=("labels",),
    ),
    EventKind("retitled", "another title came from its own system", is_by_source=True),
    EventKind("reopened_there", "its own system opened it again", is_by_source=True),
    EventKind("archived", "kept as a case of {document}"),
    EventKind(
        "told",
        "{target} was told",
        counter=lambda facts: WRITE_BACKS.labels(str(facts["target"]), "told"),
    ),
    EventKind(
        "not_told",
        "{target} could not be told",
        counter=lambda facts: WRITE_BACKS.labels(str(facts["target"]), "not_told"),
    ),
    EventKind("marked", "{step} {marked}", is_by_person=True, audited=("step", "mark")),
    EventKind(
        "marked_beside",
        "“{box}” of {document} {marked}",
        is_by_person=True,
        audited=("document", "mark"),
    ),
    EventKind(
        "judged",
        "{judged}",
        is_by_person=True,
        audited=("step", "verdict"),
        counter=lambda facts: (
            JUDGED_STEPS.labels(str(facts["verdict"])) if facts["verdict"] in JUDGEMENTS else None
        ),
    ),
    EventKind(
        "edited",
        "version {version} of the workflow was made",
        is_by_person=True,
        audited=("workflow_id",),
    ),
    EventKind(
        "accepted",
        "the workflow was accepted",
        is_by_person=True,
        audited=("workflow_id",),
        counter=lambda _facts: JUDGED_WORKFLOWS.labels("accepted"),
    ),
    EventKind(
        "rejected",
        "the workflow was rejected",
        is_by_person=True,
        audited=("workflow_id",),
        counter=lambda _facts: JUDGED_WORKFLOWS.labels("rejected"),
    ),
    EventKind(
        "taken_back",
        "what was said of the workflow was taken back",
        is_by_person=True,
        audited=("workflow_id",),
    ),
    EventKind(
        "ran",
        "a run of the workflow ended: {outcome}",
        is_announced=True,
        is_by_person=True,
        audited=("run", "outcome"),
    ),
    EventKind("looked", "what the workflow asks was looked at", audited=("run",)),
    EventKind(
        "searched",
        "a search for the cause ended: {outcome}",
        is_announced=True,
        is_by_person=True,
        audited=("search", "outcome"),
    ),
    EventKind("doubted", "the reading of {document} is in doubt by it", audited=("step",)),
)

KINDS: Mapping[str, EventKind] = {kind.name: kind for kind in _KINDS}

PROGRESS = tuple(kind.name for kind in _KINDS if kind.is_progress)
BEGINNINGS = tuple(kind.name for kind in _KINDS if kind.begins_walk)
"""Kinds of events after which a ticket is walked again."""
ENDS = tuple(kind.name for kind in _KINDS if kind.ends_walk)
BY_SOURCE = tuple(kind.name for kind in _KINDS if kind.is_by_source)
STAGES = tuple((kind.name, kind.stage) for kind in _KINDS if kind.stage)
