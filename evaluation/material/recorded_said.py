"""What a strong model says that people write of pages, kept by document."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.material.pairs import read_lines, write_lines
from services.procedure.by_model.said import SAID_PROMPT, usable

RECORDED_SAID = Path(__file__).parents[1] / "recorded" / "strong_said.jsonl"


class RecordedSaid(BaseModel):
    """Of one page."""

    model_config = ConfigDict(frozen=True)

    document: str
    prompt: str
    texts: tuple[str, ...]


def read_said(path: Path) -> dict[str, RecordedSaid]:
    """By document; none where there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds something else.
    """
    rows = (row for _, row in read_lines(path, RecordedSaid)) if path.exists() else ()
    return {row.document: row for row in rows}


def write_said(path: Path, rows: Iterable[RecordedSaid]) -> None:
    """In the order of the documents, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: row.document)


def said_in(folder: Path, documents: Mapping[str, str]) -> list[RecordedSaid]:
    """The answers in `answer-1.json` and so on; `documents` names the page of each key."""
    return [
        RecordedSaid(
            document=documents[key],
            prompt=SAID_PROMPT.label,
            texts=usable(ticket["text"] for ticket in given["tickets"]),
        )
        for path in sorted(folder.glob("answer-*.json"))
        for key, given in json.loads(path.read_text(encoding="utf-8")).items()
        if key in documents
    ]
