"""What a strong model composed, kept by instruction: places and hashes, no word of the data."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evaluation.material.composing.instructions import PERSON, Again, Arms, Call, Tree
from evaluation.material.pairs import write_lines
from services.kit.files import read_json_lines

RECORDED_COMPOSITIONS = Path(__file__).parents[2] / "recorded" / "strong_compositions.jsonl"
_NOBODY = -1
_UNKNOWN = -2


class RecordedComposition(BaseModel):
    """What came of one instruction under one arm, after the checks that the arm has."""

    model_config = ConfigDict(frozen=True)

    key: str
    arm: str
    prompt: str
    shown: str
    """Names the components that were shown, in their order: the places count among them."""
    tree: list[Any] | None
    """Places of components; -1: a person's; -2: no component that was shown. None: unreadable."""
    values: list[dict[str, str]] = []
    """Of each call, in the order of the text: hashes of names to hashes of names and values."""
    asked: int = 0


def read_compositions(path: Path) -> dict[tuple[str, str], RecordedComposition]:
    """By arm and key; none where there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds something else.
    """
    rows = (row for _, row in read_json_lines(path, RecordedComposition)) if path.exists() else ()
    return {(row.arm, row.key): row for row in rows}


def write_compositions(path: Path, rows: Iterable[RecordedComposition]) -> None:
    """In the order of arms and keys, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: (row.arm, row.key))


def digest_of(shown: Sequence[str]) -> str:
    """Names what was shown."""
    return hashlib.sha256("\0".join(shown).encode()).hexdigest()[:16]


def as_places(tree: Tree, shown: Sequence[str]) -> list[Any]:
    """A tree with the places of its components."""
    made: list[Any] = []
    for each in tree:
        match each:
            case Call(component=name):
                unknown = _NOBODY if name == PERSON else _UNKNOWN
                made.append(shown.index(name) if name in shown else unknown)
            case Again():
                made.append({"again": as_places(each.body, shown)})
            case Arms():
                other = None if each.otherwise is None else as_places(each.otherwise, shown)
                arms = [as_places(body, shown) for body in each.bodies]
                made.append({"if": arms, "else": other})
    return made


def of_places(places: Sequence[Any], shown: Sequence[str]) -> Tree:
    """The tree that places tell of."""
    made: list[Call | Arms | Again] = []
    for each in places:
        if isinstance(each, int):
            name = shown[each] if 0 <= each < len(shown) else PERSON
            made.append(Call("(not shown)" if each == _UNKNOWN else name))
        elif "again" in each:
            made.append(Again(of_places(each["again"], shown)))
        else:
            other = None if each["else"] is None else of_places(each["else"], shown)
            made.append(Arms(tuple(of_places(body, shown) for body in each["if"]), other))
    return tuple(made)
