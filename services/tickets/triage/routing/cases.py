"""Past tickets as triage learns from them: texts, and the teams that took them."""

import re
from collections import Counter
from collections.abc import Sequence

from services.contracts.triage import Team
from services.knowledge.model import Case
from services.language.words import tokenise

_JOINTS = re.compile(r"[\W_]+")
_LONGEST_ENTITY = 64


def entities_of(text: str) -> dict[str, int]:
    """Count the names, codes and words of a text in their compared form.

    A compound name counts as a whole and by its parts.
    """
    return dict(Counter(term[:_LONGEST_ENTITY] for term in tokenise(text)))


def case_of(id_: str, text: str, team: str, at: float) -> Case:
    """Build the graph's case of a past ticket; `text` is without its noise."""
    return Case(id=id_, text=text, team=team, at=at, entities=entities_of(text))


def team_texts(names: Sequence[str], teams: Sequence[Team]) -> list[str]:
    """Return a text for each team: its name, and its description if it has one."""
    descriptions = {team.name: team.description for team in teams}
    return [f"{_JOINTS.sub(' ', name)}. {descriptions.get(name, '')}".strip() for name in names]


def all_teams(cases: Sequence[Case], teams: Sequence[Team]) -> tuple[str, ...]:
    """Return the names of all teams, declared or seen in past tickets, in alphabetical order."""
    return tuple(sorted({case.team for case in cases} | {team.name for team in teams}))
