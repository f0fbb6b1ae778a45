"""What a ticket system is told, in a few lines: what came of a ticket, its team, what is asked."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.contracts.clarification import Clarification
from services.contracts.gateway import NearestDocument, StoredWorkflow, TicketDetail
from services.contracts.ticket import Fit, TicketStatus
from services.contracts.triage import TriageDecision
from services.gateway.formats import lines_url
from services.gateway.ticket.comments import MARK, OPENING
from services.procedure.checklist.shown import box_lines
from services.workflow.model import Step, Workflow

SHOWN_STEPS = 10
SHOWN_CHARACTERS = 200
SHOWN_DOCUMENTS = 3
SHOWN_TEAMS = 3


@dataclass(frozen=True)
class Part:
    """One thing that is told."""

    topic: str
    """`workflow`, `refusal`, `team`, `end`, `run` or `question`."""
    identity: str
    """The same for what need not be told twice."""
    lines: tuple[str, ...]
    """The first says it all."""

    @property
    def digest(self) -> str:
        """Stands for the identity where it is kept."""
        return hashlib.sha256(self.identity.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class TicketNote:
    """What is new about a ticket."""

    ticket: TicketDetail
    stored: StoredWorkflow | None
    url: str
    """The ticket's page; empty where nobody said how people reach it."""
    parts: tuple[Part, ...]
    """At least one."""

    @property
    def key(self) -> str:
        """The same for the same news of the same ticket, however often it is told."""
        return ":".join((self.ticket.id, *(part.digest for part in self.parts)))

    @property
    def headline(self) -> str:
        """The first of the news in one line."""
        return _short(OPENING + self.parts[0].lines[0])

    @property
    def lines(self) -> tuple[str, ...]:
        """The rest, what tells that the platform has written it, and the link."""
        first, *others = self.parts
        told = [*first.lines[1:], *(line for part in others for line in part.lines)]
        return (*told, MARK, *([self.url] if self.url else []))

    @property
    def text(self) -> str:
        """Headline and lines as plain text."""
        return "\n".join((self.headline, *self.lines))


def parts_of(
    ticket: TicketDetail,
    stored: StoredWorkflow | None,
    base: str,
    *,
    takes_comments: bool,
    reopened: str | None = None,
    handed_back: str | None = None,
    ran: Mapping[str, Any] | None = None,
    searched: Mapping[str, Any] | None = None,
) -> Iterator[Part]:
    """All that may be told of a ticket; `takes_comments` where a comment there is an answer.

    `reopened` names the time at which somebody took back that the fault is over, `handed_back` that
    at which the hand-over was; `ran` says how the latest run ended,
    `searched` what came of the latest search.

    `base` is where people reach the platform, without a slash at its end, or empty.
    """
    if stored is not None and ticket.status is not TicketStatus.REJECTED:
        yield _workflow(stored)
    elif ticket.status is TicketStatus.REFUSED:
        yield _refusal(ticket, base)
    if ticket.triage is not None:
        yield _team(ticket, ticket.triage)
    elif handed_back is not None:
        told = "The hand-over was taken back: the ticket is worked on here again"
        yield Part("team", handed_back, (told,))
    if reopened is not None and ticket.resolved_at is None:
        told = "The fault is not over after all: the ticket is open again"
        yield Part("end", reopened, (told,))
    if ran is not None:
        told = f"A run of the workflow ended: {ran['outcome']}"
        yield Part("run", str(ran["run"]), (told, *map(str, ran["lines"])))
    if searched is not None:
        told = f"A search for the cause ended: {searched['outcome']}"
        cause = [str(searched["cause"])] if searched["cause"] else []
        yield Part("search", str(searched["search"]), (told, *cause, *map(str, searched["lines"])))
    asked = ticket.open_question
    if asked is not None and ticket.resolved_at is None:
        yield _question(asked, takes_comments=takes_comments)


def _workflow(stored: StoredWorkflow) -> Part:
    workflow = stored.workflow
    is_sure = stored.fit is Fit.SURE
    doubts = [] if is_sure else [f"Not sure: {said}" for said in stored.against]
    if workflow.page is not None:
        steps = [f"{'  ' * depth}{_short(words)}" for depth, words in box_lines(workflow)]
        kind, count = "Checklist", f"{len(steps)} {'box' if len(steps) == 1 else 'boxes'}"
    else:
        numbers = {step.id: n for n, step in enumerate(workflow.steps, start=1)}
        steps = [_told(workflow, step, numbers) for step in workflow.steps]
        kind, count = "Workflow", f"{len(steps)} steps"
    rest = len(steps) - SHOWN_STEPS
    more = [f"… and {rest} more"] if rest > 0 else []
    headline = f"{kind}, {stored.verdict_words}: {workflow.title} ({count})"
    identity = "\n".join((headline, *doubts, *steps))
    return Part("workflow", identity, (headline, *doubts, *steps[:SHOWN_STEPS], *more))


def _refusal(ticket: TicketDetail, base: str) -> Part:
    nearest = ticket.nearest[:SHOWN_DOCUMENTS]
    found = [f"Came closest: {_document(near, base)}" for near in nearest]
    identity = "\n".join(("refused", *(near.document_id for near in nearest)))
    return Part(
        "refusal", identity, (f"{ticket.verdict_words.capitalize()}: {ticket.reason}", *found)
    )


def _document(near: NearestDocument, base: str) -> str:
    heading = " › ".join(near.heading_path)
    place = f"{near.document_id}, lines {near.start_line}–{near.end_line}"
    address = base + lines_url(near.document_id, near.start_line, near.end_line) if base else ""
    return " ".join(filter(None, (_short(f"{heading} ({place})" if heading else place), address)))


def _team(ticket: TicketDetail, triage: TriageDecision) -> Part:
    """The team; what was tried where it is more than what the refusal says."""
    is_refused = ticket.status is TicketStatus.REFUSED
    tried = () if is_refused else triage.note.tried[-SHOWN_STEPS:]
    is_handed_over = ticket.status is TicketStatus.HANDED_OVER
    identity = "\n".join((triage.team or "", *tried))
    whose = _whose(triage, is_handed_over=is_handed_over)
    return Part("team", identity, (*whose, *map(_short, tried)))


def _whose(triage: TriageDecision, *, is_handed_over: bool) -> list[str]:
    """The team and why, or those that come next to it."""
    likeliest = [f"{each.team} ({each.chance:.0%})" for each in triage.candidates[:SHOWN_TEAMS]]
    if triage.team is None:
        told = f"; likeliest: {', '.join(likeliest)}" if likeliest else ""
        return [f"Not handed over: no team found, one is to be chosen{told}"]
    chance = "" if triage.by == "person" else f" ({triage.chance:.0%} likely)"
    why = next((each.why for each in triage.candidates if each.team == triage.team), ())
    reasons = [f"Why: {_short('; '.join(why))}"] if why and chance else []
    lead = "Handed over to the team" if is_handed_over else "For the team"
    return [f"{lead} {triage.team}{chance}", *reasons]


def _question(asked: Clarification, *, takes_comments: bool) -> Part:
    choices = [f"{n}) {_short(text)}" for n, text in enumerate(asked.choices, start=1)]
    words = "the number of a choice or your own words" if choices else "your own words"
    how = (
        f"To answer, comment a line that begins with answer: and goes on with {words}; "
        "answer: unknown, where nobody knows. The ticket is then looked at again."
        if takes_comments
        else "It can be answered on the ticket's page."
    )
    identity = "\n".join((asked.id, asked.question, *asked.choices))
    return Part("question", identity, (f"Question: {_short(asked.question)}", *choices, how))


def _told(workflow: Workflow, step: Step, numbers: Mapping[str, int]) -> str:
    """A step by the number that it has on the page, and where each answer leads.

    Where a step does not lead to the next one, it says to which.
    """
    number, exits = numbers[step.id], workflow.exits(step.id)
    leads = [
        f"{edge.condition or 'then'}: {numbers[edge.target]}"
        for edge in exits
        if edge.condition or numbers[edge.target] != number + 1
    ]
    known = [f"answered: {step.settled}"] if step.settled else []
    text = f"{number}. {_short(step.text)}"
    return f"{text} ({', '.join([*known, *leads])})" if known or leads else text


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[: SHOWN_CHARACTERS - 1]}…"
