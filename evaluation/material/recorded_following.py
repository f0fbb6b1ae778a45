"""What a strong agent did in sessions, kept by turn: choices and their keys, no text."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from services.kit.files import read_json_lines, write_text

RECORDED_FOLLOWING = Path(__file__).parents[1] / "recorded" / "strong_follow.jsonl"


class RecordedAct(BaseModel):
    """One act."""

    model_config = ConfigDict(frozen=True)

    key: str
    """`turn/FORM/s03t2`, or `live/FORM/s03/002` of a session that was played."""
    prompt: str
    """Names what was asked: an answer to something else does not count."""
    node: str = ""
    tool: str = ""
    """Empty: it said something, or answered nothing that can be read."""
    arguments: Mapping[str, str] = Field(default={})
    said: bool = False
    off_procedure: bool = False
    told: tuple[int, ...] = ()
    """Of a session that was played: which of the things that the person knows it asked for."""

    @property
    def is_none(self) -> bool:
        """Whether nothing that can be read was answered."""
        return not self.tool and not self.said


def read_acts(path: Path) -> dict[str, RecordedAct]:
    """By key; none where there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds no act.
    """
    rows = (row for _, row in read_json_lines(path, RecordedAct)) if path.exists() else ()
    return {row.key: row for row in rows}


def keep_acts(path: Path, acts: Iterable[RecordedAct]) -> int:
    """Beside those that are there, in the order of their keys; how many were given."""
    new_rows = {act.key: act for act in acts}
    rows = read_acts(path) | new_rows
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (rows[key].model_dump_json(exclude_defaults=True) for key in sorted(rows))
    write_text(path, "".join(f"{line}\n" for line in lines))
    return len(new_rows)
