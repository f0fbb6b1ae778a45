"""Answers of a strong model to the reading prompt, kept as lines, labels and own words.

A row names the text by its hash and the prompt by its version, and holds the answer of each sample
after the walker's findings had gone back: `{"text_hash", "prompt", "answers": [program, …]}`. No
text of a page is kept: commands and sample output are left out.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evaluation.material.pairs import write_lines
from services.kit.files import read_json_lines
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.llm.scripted import ScriptedChatModel
from services.runbook.by_model.reader import ModelReader
from services.runbook.model import Reading, as_json

RECORDED = Path(__file__).parents[1] / "recorded" / "strong_model.jsonl"
_NOT_KEPT = ("commands", "expected")


class RecordedAnswers(BaseModel):
    """What a model answered about one text."""

    model_config = ConfigDict(frozen=True)

    text_hash: str
    prompt: str
    """Of that time; the prompt in use may be a later one."""
    answers: tuple[dict[str, Any], ...]
    placed: dict[str, Any] | None = None
    """The answer where the rest of the page belongs; None if nobody was asked."""


def read_answers(path: Path) -> dict[str, RecordedAnswers]:
    """Recorded answers by the hash of their text.

    Raises:
        PairsError: The file cannot be read, or a line holds no answers.
    """
    rows = (row for _, row in read_json_lines(path, RecordedAnswers))
    return {row.text_hash: row for row in rows}


def by_record(
    answers: dict[str, RecordedAnswers], samples: int = 0
) -> Callable[[Document], Reading | None]:
    """The model's reader, replaying; None for a page that was not recorded.

    With `samples` only so many of the answers are used.
    """

    def read(document: Document) -> Reading | None:
        text = ScreenedDocument(document).for_model().text
        row = answers.get(hash_of(text))
        if row is None:
            return None
        texts = [json.dumps(answer) for answer in row.answers[: samples or None]]
        model = ScriptedChatModel([*texts, json.dumps(row.placed)] if row.placed else texts)
        reading = ModelReader(model, samples=len(texts), corrections=0).read(text)
        return reading.model_copy(update={"version": row.prompt})

    return read


def reading_rows(
    pages: Iterable[Document], answers: dict[str, RecordedAnswers]
) -> Iterator[dict[str, Any]]:
    """The readings of the recorded answers as `flowxpert readings import` takes them."""
    read = by_record(answers)
    for page in pages:
        reading = read(page)
        if reading is not None:
            key = hash_of(ScreenedDocument(page).for_model().text)
            row = {"text_hash": key, "document": page.id, "state": "read"}
            yield row | {"reading": as_json(reading)}


def without_page_text(program: Any) -> Any:  # noqa: ANN401 - JSON
    """The answer without what it copies from the page."""
    if isinstance(program, dict):
        kept = {key: value for key, value in program.items() if key not in _NOT_KEPT}
        return {key: without_page_text(value) for key, value in kept.items()}
    if isinstance(program, list):
        return [without_page_text(each) for each in program]
    return program


def write_answers(path: Path, rows: Iterable[RecordedAnswers]) -> None:
    """Write the rows in the order of their hashes, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: row.text_hash)
