"""Triage: the team for a ticket, the evidence for it, and the hand-over note."""

from datetime import datetime

from pydantic import Field

from services.kit.value import Value

MAX_CASES = 1000
MAX_NAME = 200
MAX_TEXT = 100_000


TEAM_NAME = r"^[^\s\x00-\x1f\x7f/]([^\x00-\x1f\x7f/]*[^\s\x00-\x1f\x7f/])?$"
"""Pattern of a line without control characters; no slash, since names are part of URLs."""


class Team(Value):
    """A group of people that takes tickets."""

    name: str = Field(min_length=1, max_length=MAX_NAME, pattern=TEAM_NAME)
    description: str = Field(default="", max_length=10_000)
    """Responsibilities in the team's own words: evidence for triage as past tickets are."""


class TeamChance(Value):
    """Probability that a ticket belongs to a team, with evidence from past tickets."""

    team: str
    chance: float
    why: tuple[str, ...] = ()
    """Paths in the triage graph from the ticket to the team, the strongest first."""


class HandOver(Value):
    """Hand-over note for the team that takes a ticket over."""

    asked: str
    """Subject of the ticket, without the noise."""
    found: tuple[str, ...] = ()
    """Related knowledge, closest first."""
    addresses: tuple[str, ...] = ()
    """Path, on this platform, of the page that shows each entry of `found`."""
    tried: tuple[str, ...] = ()
    """Actions so far with their outcome, in order."""


class TriageDecision(Value):
    """The team that a ticket goes to."""

    team: str | None
    """Name of the team; None if no team is likely enough: a person chooses among `candidates`."""
    chance: float = 0.0
    candidates: tuple[TeamChance, ...] = ()
    """Teams, the likeliest first; the remaining probability belongs to other teams, or to none
    known.
    """
    by: str
    """Origin of the decision: `ranker`, `model`, or `person`."""
    rounds: int = 0
    """Number of times the choice was reviewed."""
    note: HandOver
    at: datetime


class PastTicket(Value):
    """A past ticket and the team that took it."""

    id: str = Field(min_length=1, max_length=400)
    """Id of the ticket; the same id again replaces what was learned."""
    title: str = Field(default="", max_length=MAX_TEXT)
    description: str = Field(default="", max_length=MAX_TEXT)
    team: str = Field(min_length=1, max_length=MAX_NAME, pattern=TEAM_NAME)


class PastTickets(Value):
    """Past tickets for triage to learn from."""

    tickets: tuple[PastTicket, ...] = Field(max_length=MAX_CASES)


class Learning(Value):
    """Confirmation of stored past tickets; they count from the next training of triage on."""

    tickets: int


class Assignment(Value):
    """Request of a person to assign a ticket to a team."""

    team: str = Field(min_length=1, max_length=MAX_NAME, pattern=TEAM_NAME)


class Rejection(Value):
    """Request of an engineer to reject the workflow."""

    reason: str = Field(default="", max_length=2000)
