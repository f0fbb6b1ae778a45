"""Notes to ticket systems, in a few lines: what came of a ticket, its team, what is asked."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.contracts.clarification import Clarification
from services.contracts.gateway import StoredWorkflow, TicketDetail
from services.contracts.ticket import Fit, TicketStatus
from services.contracts.triage import TriageDecision
from services.kit.text import ellipsize, squeeze
from services.runbook.checklist.shown import box_lines
from services.tickets.formats import lines_url
from services.tickets.ticket.comments import MARK, OPENING
from services.workflow.model import Step, Workflow

SHOWN_STEPS = 10
SHOWN_CHARACTERS = 200
SHOWN_DOCUMENTS = 3
SHOWN_TEAMS = 3


@dataclass(frozen=True)
class NotePart:
    """Part of a note: one piece of news."""

    topic: str
    """`workflow`, `refusal`, `team`, `end`, `run`, `search` or `question`."""
    identity: str
    """Text that is equal for news that need not be sent twice."""
    lines: tuple[str, ...]
    """Lines of text; the first says it all."""

    @property
    def digest(self) -> str:
        """Hash of the identity, as it is stored."""
        return hashlib.sha256(self.identity.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class TicketNote:
    """News of a ticket, as a system gets them."""

    ticket: TicketDetail
    stored: StoredWorkflow | None
    url: str
    """Address of the ticket's page; empty if no public address is set."""
    parts: tuple[NotePart, ...]
    """Pieces of news, at least one."""
    sent_before: int
    """Number of notes that the system has had of the ticket."""

    @property
    def key(self) -> str:
        """Key that is equal for the same news of the same ticket, however often they are sent."""
        return ":".join((self.ticket.id, *(part.digest for part in self.parts)))

    def mark_of(self, part: NotePart) -> str:
        """Return letters by which the part is found among a ticket's notes in its own system."""
        text = f"{self.ticket.id} {self.sent_before} {part.topic} {part.digest}"
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    @property
    def headline(self) -> str:
        """First piece of news in one line."""
        return _shorten(OPENING + self.parts[0].lines[0])

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines after the headline, with the platform's mark and the link."""
        first, *others = self.parts
        body = [*first.lines[1:], *(line for part in others for line in part.lines)]
        return (*body, MARK, *([self.url] if self.url else []))

    @property
    def text(self) -> str:
        """Headline and lines as plain text."""
        return "\n".join((self.headline, *self.lines))

    @property
    def marked_text(self) -> str:
        """Text for a system that can be asked for the notes of a ticket."""
        return f"{self.text}\nRef: {' '.join(map(self.mark_of, self.parts))}"


def build_parts(
    ticket: TicketDetail,
    stored: StoredWorkflow | None,
    base: str,
    *,
    takes_comments: bool,
    reopened: str | None = None,
    handed_back: str | None = None,
    ran: Mapping[str, Any] | None = None,
    searched: Mapping[str, Any] | None = None,
) -> Iterator[NotePart]:
    """Yield all news of a ticket; `takes_comments` if a comment there can be an answer.

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
        text = "The hand-over was taken back: the ticket is worked on here again"
        yield NotePart("team", handed_back, (text,))
    if reopened is not None and ticket.resolved_at is None:
        text = "The fault is not over after all: the ticket is open again"
        yield NotePart("end", reopened, (text,))
    if ran is not None:
        text = f"A run of the workflow ended: {ran['outcome']}"
        yield NotePart("run", str(ran["run"]), (text, *map(str, ran["lines"])))
    if searched is not None:
        text = f"A search for the cause ended: {searched['outcome']}"
        cause = [str(searched["cause"])] if searched["cause"] else []
        yield NotePart(
            "search", str(searched["search"]), (text, *cause, *map(str, searched["lines"]))
        )
    question = ticket.open_question
    if question is not None and ticket.resolved_at is None:
        yield _question(question, takes_comments=takes_comments)


def _workflow(stored: StoredWorkflow) -> NotePart:
    workflow = stored.workflow
    is_sure = stored.fit is Fit.SURE
    doubts = [] if is_sure else [f"Not sure: {objection}" for objection in stored.against]
    if workflow.page is not None:
        steps = [f"{'  ' * depth}{_shorten(words)}" for depth, words in box_lines(workflow)]
        kind, count = "Checklist", f"{len(steps)} {'box' if len(steps) == 1 else 'boxes'}"
    else:
        numbers = {step.id: n for n, step in enumerate(workflow.steps, start=1)}
        steps = [_step_line(workflow, step, numbers) for step in workflow.steps]
        kind, count = "Workflow", f"{len(steps)} steps"
    rest = len(steps) - SHOWN_STEPS
    more = [f"… and {rest} more"] if rest > 0 else []
    headline = f"{kind}, {stored.verdict_words}: {workflow.title} ({count})"
    identity = "\n".join((headline, *doubts, *steps))
    return NotePart("workflow", identity, (headline, *doubts, *steps[:SHOWN_STEPS], *more))


def _refusal(ticket: TicketDetail, base: str) -> NotePart:
    nearest = ticket.nearest[:SHOWN_DOCUMENTS]
    closest = []
    for near in nearest:
        heading = " › ".join(near.heading_path)
        place = f"{near.document_id}, lines {near.start_line}–{near.end_line}"
        words = ["Came closest:", _shorten(f"{heading} ({place})" if heading else place)]
        if base:
            words.append(base + lines_url(near.document_id, near.start_line, near.end_line))
        closest.append(" ".join(filter(None, words)))
    identity = "\n".join(("refused", *(near.document_id for near in nearest)))
    return NotePart(
        "refusal", identity, (f"{ticket.verdict_words.capitalize()}: {ticket.reason}", *closest)
    )


def _team(ticket: TicketDetail, triage: TriageDecision) -> NotePart:
    """Build the part of the team and why, or of the likeliest teams if none was found.

    It says what was tried, unless the refusal says it.
    """
    is_refused = ticket.status is TicketStatus.REFUSED
    tried = () if is_refused else triage.note.tried[-SHOWN_STEPS:]
    if triage.team is None:
        teams = [f"{each.team} ({each.chance:.0%})" for each in triage.candidates[:SHOWN_TEAMS]]
        suffix = f"; likeliest: {', '.join(teams)}" if teams else ""
        lines = [f"Not handed over: no team found, one is to be chosen{suffix}"]
    else:
        is_handed_over = ticket.status is TicketStatus.HANDED_OVER
        lead = "Handed over to the team" if is_handed_over else "For the team"
        chance = "" if triage.by == "person" else f" ({triage.chance:.0%} likely)"
        why = next((each.why for each in triage.candidates if each.team == triage.team), ())
        reasons = [f"Why: {_shorten('; '.join(why))}"] if why and chance else []
        lines = [f"{lead} {triage.team}{chance}", *reasons]
    identity = "\n".join((triage.team or "", *tried))
    return NotePart("team", identity, (*lines, *map(_shorten, tried)))


def _question(question: Clarification, *, takes_comments: bool) -> NotePart:
    choices = [f"{n}) {_shorten(text)}" for n, text in enumerate(question.choices, start=1)]
    words = "the number of a choice or your own words" if choices else "your own words"
    how = (
        f"To answer, comment a line that begins with answer: and goes on with {words}; "
        "answer: unknown, where nobody knows. The ticket is then looked at again."
        if takes_comments
        else "It can be answered on the ticket's page."
    )
    identity = "\n".join((question.id, question.question, *question.choices))
    return NotePart(
        "question", identity, (f"Question: {_shorten(question.question)}", *choices, how)
    )


def _step_line(workflow: Workflow, step: Step, numbers: Mapping[str, int]) -> str:
    """Return a step by its number on the page, with where each answer leads.

    A step that does not lead to the next one says to which.
    """
    number, exits = numbers[step.id], workflow.exits(step.id)
    leads = [
        f"{edge.condition or 'then'}: {numbers[edge.target]}"
        for edge in exits
        if edge.condition or numbers[edge.target] != number + 1
    ]
    answered = [f"answered: {step.settled}"] if step.settled else []
    text = f"{number}. {_shorten(step.text)}"
    return f"{text} ({', '.join([*answered, *leads])})" if answered or leads else text


def _shorten(text: str) -> str:
    return ellipsize(squeeze(text), SHOWN_CHARACTERS)


@dataclass(frozen=True)
class Digest:
    """Digest of one week."""

    week: str
    """ISO week, such as `2026-W48`."""
    headline: str
    lines: tuple[str, ...]
    pages: tuple[dict[str, Any], ...]
    """Pages for programs: `PageToMend` as JSON."""
    reviews: tuple[dict[str, Any], ...]
    """Reviews for programs: `PageReview` as JSON."""
    url: str
    """Address of the list for people; empty if no public address is set."""

    @property
    def key(self) -> str:
        """Key that is equal for the same week, however often it is sent."""
        return f"digest:{self.week}"

    @property
    def text(self) -> str:
        """Digest for people, a line for each thing."""
        return "\n".join((self.headline, *self.lines))
