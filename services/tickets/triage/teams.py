"""Declared teams: from a file that is read at start, and from the API."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from sqlalchemy import delete, select

from services.contracts.triage import Team
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.files import read_yaml
from services.kit.sql.database import Database
from services.tickets.tables import TeamRow

HOW_TO_DECLARE = (
    "teams are declared in a file that the setting FLOWXPERT_GATEWAY_TEAMS_FILE names, or by"
    " POST /v1/teams, and learned from past tickets"
)
_MOST_NEAR = 3
_LEAST_SIMILARITY = 0.6
"""Least similarity of names, 0–1, as `difflib` compares them."""
_MOST_LISTED = 10


class TeamNotFoundError(NotFoundError):
    """No team of that name was declared by the API."""


class UnknownTeamError(InvalidInputError):
    """No team of that name is declared, and none took a past ticket."""


class Teams:
    """Declared teams; one from the API overrides one of the same name in the file."""

    def __init__(self, database: Database, file: Path | None) -> None:
        """Read the file of teams, if there is one; raises `UnusableFileError`."""
        self._database = database
        self._insert = database.insert
        self._of_file = read_teams(file) if file else ()

    def all(self) -> tuple[Team, ...]:
        """Return the teams in the order of their names."""
        with self._database.session() as session:
            rows = session.scalars(select(TeamRow)).all()
        by_name = {team.name: team for team in self._of_file}
        by_name |= {row.name: Team(name=row.name, description=row.description) for row in rows}
        return tuple(by_name[name] for name in sorted(by_name))

    def put(self, team: Team) -> None:
        """Declare a team, or describe it anew."""
        with self._database.session() as session:
            values = {"description": team.description}
            statement = self._insert(TeamRow).values(name=team.name, **values)
            session.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))

    def remove(self, name: str) -> None:
        """Remove a team of the API; past tickets of it stay.

        Raises:
            TeamNotFoundError: No such team.
        """
        statement = delete(TeamRow).where(TeamRow.name == name).returning(TeamRow.name)
        with self._database.session() as session:
            if session.scalar(statement) is None:
                raise TeamNotFoundError(f"the API declared no team {name[:60]!r}")


def resolve_team(name: str, names: Sequence[str]) -> str:
    """Return the name among `names` that is meant, whatever its case.

    Raises:
        UnknownTeamError: There is none; the message lists similar names, or how to declare teams.
    """
    spelled = {each.casefold(): each for each in names}
    wanted = name.strip().casefold()
    if wanted in spelled:
        return spelled[wanted]
    shown = repr(name[:60])
    if not names:
        raise UnknownTeamError(f"the team {shown} is not known, nor any other: {HOW_TO_DECLARE}")
    near = [
        spelled[each] for each in get_close_matches(wanted, spelled, _MOST_NEAR, _LEAST_SIMILARITY)
    ]
    hint = f"near it: {', '.join(near)}" if near else f"known: {', '.join(names[:_MOST_LISTED])}"
    raise UnknownTeamError(f"no team {shown} is known ({hint})")


def read_teams(file: Path) -> tuple[Team, ...]:
    """Read a YAML list of teams, each with `name` and `description`.

    Raises:
        UnusableFileError: The file is no such list.
    """
    return read_yaml(file, tuple[Team, ...])
