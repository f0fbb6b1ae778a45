"""What triage learns from: texts of past tickets and the teams that took them."""

import re
from collections import Counter
from collections.abc import Sequence

from services.contracts.triage import Team
from services.knowledge.model import Case
from services.language.words import tokenise

_JOINTS = re.compile(r"[\W_]+")
_LONGEST_ENTITY = 64


def entities_of(text: str) -> dict[str, int]:
    """Names, codes and words of a text as they are compared, each with how often it stands there.

    A name written together counts as a whole and by its parts.
    """
    return dict(Counter(term[:_LONGEST_ENTITY] for term in tokenise(text)))


def case_of(id_: str, text: str, team: str, at: float) -> Case:
    """A past ticket as the graph keeps it; `text` is without its noise."""
    return Case(id=id_, text=text, team=team, at=at, entities=entities_of(text))


def team_texts(names: Sequence[str], teams: Sequence[Team]) -> list[str]:
    """What is known of each team in words: its name, and its description where one is given."""
    told = {team.name: team.description for team in teams}
    return [f"{_JOINTS.sub(' ', name)}. {told.get(name, '')}".strip() for name in names]


def all_teams(cases: Sequence[Case], teams: Sequence[Team]) -> tuple[str, ...]:
    """Names of the teams that are declared or took a ticket, in the order of the alphabet."""
    return tuple(sorted({case.team for case in cases} | {team.name for team in teams}))
