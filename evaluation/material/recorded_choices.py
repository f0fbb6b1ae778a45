"""A strong model's choices of the page, kept by case: ids and chances, no text of a page."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from evaluation.material.pairs import write_lines
from services.kit.files import read_json, read_json_lines

RECORDED_CHOICES = Path(__file__).parents[1] / "recorded" / "strong_page_choices.jsonl"


class RecordedPageChoice(BaseModel):
    """What was chosen for one case."""

    model_config = ConfigDict(frozen=True)

    key: str
    prompt: str
    page: str
    """The id of a document; empty: none."""
    stated: float = Field(ge=0, le=1)
    place: int


class _Answer(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    page: str
    chance: float = Field(ge=0, le=100)


def read_page_choices(path: Path) -> dict[str, RecordedPageChoice]:
    """By the key of their case; none where there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds no choice.
    """
    rows = (row for _, row in read_json_lines(path, RecordedPageChoice)) if path.exists() else ()
    return {row.key: row for row in rows}


def write_page_choices(path: Path, rows: Iterable[RecordedPageChoice]) -> None:
    """In the order of their keys, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: row.key)


def answered(
    folder: Path, shown: Mapping[str, Sequence[str]], prompt: str
) -> list[RecordedPageChoice]:
    """The answers in `answer-1.json` and so on, each of a key and the pages shown under it.

    One that names a page that was not shown is left out, as the product does.
    """
    choices = []
    for path in sorted(folder.glob("answer-*.json")):
        for key, answer in read_json(path, dict[str, _Answer]).items():
            pages = ("", *shown.get(key, ()))
            if key in shown and answer.page.isdigit() and int(answer.page) < len(pages):
                place = int(answer.page)
                choices.append(
                    RecordedPageChoice(
                        key=key,
                        prompt=prompt,
                        page=pages[place],
                        stated=answer.chance / 100,
                        place=place,
                    )
                )
    return choices
