"""Triage: which team a ticket is for, why, and what is handed over to it."""

from datetime import datetime

from pydantic import Field

from services.kit.value import Value

MAX_CASES = 1000
MAX_NAME = 200
MAX_TEXT = 100_000


TEAM_NAME = r"^[^\s\x00-\x1f\x7f/]([^\x00-\x1f\x7f/]*[^\s\x00-\x1f\x7f/])?$"
"""A line without control characters; no slash, since names stand in addresses."""


class Team(Value):
    """A group of people that takes tickets."""

    name: str = Field(min_length=1, max_length=MAX_NAME, pattern=TEAM_NAME)
    description: str = Field(default="", max_length=10_000)
    """What it looks after, in its own words: evidence for triage as past tickets are."""


class TeamChance(Value):
    """How likely a ticket is a team's, and what in past tickets says so."""

    team: str
    chance: float
    why: tuple[str, ...] = ()
    """Paths in the triage graph from the ticket to the team, the strongest first."""


class HandOver(Value):
    """What a team is told that takes a ticket over."""

    asked: str
    """What the ticket is about, without the noise."""
    found: tuple[str, ...] = ()
    """What is known that comes near, closest first."""
    addresses: tuple[str, ...] = ()
    """Of each of `found` the page that shows it, as a path of this platform."""
    tried: tuple[str, ...] = ()
    """What was done so far and how it ended, in order."""


class TriageDecision(Value):
    """Which team a ticket goes to."""

    team: str | None
    """None when no team is likely enough: a person chooses among `candidates`."""
    chance: float = 0.0
    candidates: tuple[TeamChance, ...] = ()
    """The likeliest first; chances that are left belong to the other teams, or to none known."""
    by: str
    """`ranker`, `model`, or `person`."""
    rounds: int = 0
    """How often the choice was looked at."""
    note: HandOver
    at: datetime


class PastTicket(Value):
    """A ticket of the past and the team that took it."""

    id: str = Field(min_length=1, max_length=400)
    """The same id again replaces what was learned."""
    title: str = Field(default="", max_length=MAX_TEXT)
    description: str = Field(default="", max_length=MAX_TEXT)
    team: str = Field(min_length=1, max_length=MAX_NAME, pattern=TEAM_NAME)


class PastTickets(Value):
    """What triage is to learn from."""

    tickets: tuple[PastTicket, ...] = Field(max_length=MAX_CASES)


class Learning(Value):
    """What was taken in; it counts from the next time on that triage learns."""

    tickets: int


class Assignment(Value):
    """A person says whose ticket it is."""

    team: str = Field(min_length=1, max_length=MAX_NAME, pattern=TEAM_NAME)


class Rejection(Value):
    """An engineer says that the workflow is not the answer."""

    reason: str = Field(default="", max_length=2000)
