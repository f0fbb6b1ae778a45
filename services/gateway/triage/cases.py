"""What triage learns from: texts of past tickets and the teams that took them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.contracts.triage import Team

_JOINTS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Case:
    """A past ticket without its noise, and the team that it was for."""

    text: str
    team: str


def team_texts(names: Sequence[str], teams: Sequence[Team]) -> list[str]:
    """What is known of each team in words: its name, and its description where one is given."""
    told = {team.name: team.description for team in teams}
    return [f"{_JOINTS.sub(' ', name)}. {told.get(name, '')}".strip() for name in names]


def all_teams(cases: Sequence[Case], teams: Sequence[Team]) -> tuple[str, ...]:
    """Names of the teams that are declared or took a ticket, in the order of the alphabet."""
    return tuple(sorted({case.team for case in cases} | {team.name for team in teams}))
