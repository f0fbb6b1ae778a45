"""The teams that are declared: in a file that is read at start, and by the API."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import delete, select

from services.contracts.triage import Team
from services.gateway.tables import TeamRow
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.sql.database import Database

HOW_TO_DECLARE = (
    "teams are declared in a file that the setting FLOWXPERT_GATEWAY_TEAMS_FILE names, or by"
    " POST /v1/teams, and learned from past tickets"
)
_MOST_NEAR = 3
_LIKE = 0.6
"""From 0 to 1, as `difflib` compares names."""
_MOST_TOLD = 10

_LIST = TypeAdapter(tuple[Team, ...])


class TeamNotFoundError(NotFoundError):
    """No team of that name was declared by the API."""


class UnknownTeamError(InvalidInputError):
    """No team of that name is declared, and none took a past ticket."""


class TeamsFileError(InvalidInputError):
    """The file of teams cannot be read, or is no list of teams."""


class Teams:
    """Declared teams; one of the API stands for one of the file of the same name."""

    def __init__(self, database: Database, file: Path | None) -> None:
        """Raises `TeamsFileError`."""
        self._database = database
        self._insert = database.insert
        self._of_file = read_teams(file) if file else ()

    def all(self) -> tuple[Team, ...]:
        """In the order of their names."""
        with self._database.session() as session:
            rows = session.scalars(select(TeamRow)).all()
        found = {team.name: team for team in self._of_file}
        found |= {row.name: Team(name=row.name, description=row.description) for row in rows}
        return tuple(found[name] for name in sorted(found))

    def put(self, team: Team) -> None:
        """Declare a team, or describe it anew."""
        with self._database.session() as session:
            values = {"description": team.description}
            statement = self._insert(TeamRow).values(name=team.name, **values)
            session.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))

    def remove(self, name: str) -> None:
        """Take a team of the API back; past tickets of it stay.

        Raises:
            TeamNotFoundError: No such team.
        """
        statement = delete(TeamRow).where(TeamRow.name == name).returning(TeamRow.name)
        with self._database.session() as session:
            if session.scalar(statement) is None:
                raise TeamNotFoundError(f"the API declared no team {name[:60]!r}")


def known_as(name: str, known: Sequence[str]) -> str:
    """The known team that is meant, whatever its case.

    Raises:
        UnknownTeamError: None is; it tells those whose names are near, or how teams are declared.
    """
    spelled = {each.casefold(): each for each in known}
    said = name.strip().casefold()
    if said in spelled:
        return spelled[said]
    shown = repr(name[:60])
    if not known:
        raise UnknownTeamError(f"the team {shown} is not known, nor any other: {HOW_TO_DECLARE}")
    near = [spelled[each] for each in get_close_matches(said, spelled, _MOST_NEAR, _LIKE)]
    told = f"near it: {', '.join(near)}" if near else f"known: {', '.join(known[:_MOST_TOLD])}"
    raise UnknownTeamError(f"no team {shown} is known ({told})")


def read_teams(file: Path) -> tuple[Team, ...]:
    """A YAML list of teams, each with `name` and `description`.

    Raises:
        TeamsFileError: Not such a file.
    """
    try:
        return _LIST.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")) or ())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise TeamsFileError(f"{file} is no list of teams: {place}: {first['msg']}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise TeamsFileError(f"{file} is no list of teams: {error}") from error
