"""Sentences that change a procedure, with the procedure that is right afterwards."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evaluation.material.pairs import PairsError, write_lines
from services.kit.files import read_json_lines
from services.knowledge.screening.document import hash_of
from services.runbook.model import Procedure, Reading
from services.runbook.program import with_ids

RECORDED_EDITS = Path(__file__).parents[2] / "recorded" / "strong_edits.jsonl"
_EXPORT = "readings.jsonl"
_HASH = re.compile(r"[0-9a-f]{64}")

StoredOf = Callable[[str], tuple[str, tuple[Procedure, ...]]]
"""Text and procedures of a text hash."""


class EditRow(BaseModel):
    """One sentence."""

    model_config = ConfigDict(frozen=True)

    document: str
    """The path of a page, or the hash of a text whose reading is stored."""
    instruction: str
    expected: Procedure
    before: Procedure | None = None
    """What is changed; without it the page's procedure of the expected title, or its first."""
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Names it without a word of it."""
        text = f"{self.document}\0{self.instruction}".encode()
        return hashlib.sha256(text).hexdigest()[:12]


class PosedEdit(BaseModel):
    """A row with what it is about."""

    model_config = ConfigDict(frozen=True)

    row: EditRow
    before: Procedure
    text: str


class RecordedEdit(BaseModel):
    """What came of a row: hashes and figures, no word of the data."""

    model_config = ConfigDict(frozen=True)

    key: str
    prompt: str
    before: str
    """Names what was changed, and what was right: other ones are another question."""
    operations: tuple[str, ...] = ()
    """Their kinds; none where the answer asked, or could not be used."""
    program: str = ""
    shape: str = ""
    kept: float = Field(default=0, ge=0, le=1)
    bindings: float = Field(default=0, ge=0, le=1)


def read_edits(path: Path) -> list[EditRow]:
    """Raises `PairsError` where the file cannot be read."""
    return [row for _, row in read_json_lines(path, EditRow)]


def posed(row: EditRow, pages: Path, stored_of: StoredOf | None) -> PosedEdit:
    """The row with its page and the procedure that is changed, its nodes with ids.

    Raises:
        PairsError: The page, or a procedure of it, is not there.
    """
    text, procedures = _page(row, pages, stored_of)
    procedure = row.before or next((p for p in procedures if p.title == row.expected.title), None)
    if procedure is None and not procedures:
        raise PairsError(f"{row.document}: it has no procedure")
    return PosedEdit(row=row, before=with_ids(procedure or procedures[0]), text=text)


def read_recorded(path: Path) -> dict[str, RecordedEdit]:
    """By key; none where there is no file. Raises `PairsError`."""
    rows = (row for _, row in read_json_lines(path, RecordedEdit)) if path.exists() else ()
    return {row.key: row for row in rows}


def write_recorded(path: Path, rows: Iterable[RecordedEdit]) -> None:
    """In the order of their keys."""
    write_lines(path, rows, lambda row: row.key)


def digest_of(*parts: Any) -> str:  # noqa: ANN401 - JSON
    """Names them together."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _page(
    row: EditRow, pages: Path, stored_of: StoredOf | None
) -> tuple[str, tuple[Procedure, ...]]:
    if _HASH.fullmatch(row.document):
        if stored_of is None:
            raise PairsError(f"{row.document}: --data-dir names where its reading is stored")
        return stored_of(row.document)
    path = pages / row.document
    if not path.is_file():
        path = Path(row.document)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PairsError(f"{row.document}: {error.strerror}") from error
    except UnicodeDecodeError:
        text = ""  # a PDF and its like: the reading is known from an export, its lines are not
    stored = stored_of(hash_of(text)) if stored_of else _exported(row, pages, text)
    return stored or (text, ())


def _exported(row: EditRow, pages: Path, text: str) -> tuple[str, tuple[Procedure, ...]] | None:
    """What an export of readings beside the pages says of a document; None where there is none."""
    for path in (pages / _EXPORT, pages.parent / _EXPORT):
        for _, line in read_json_lines(path, _Exported) if path.is_file() else ():
            if line.document == row.document and line.reading.procedures:
                return text, line.reading.procedures
    return None


class _Exported(BaseModel):
    document: str
    reading: Reading
