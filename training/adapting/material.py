"""What adapters are made of: a folder with readings that people approved and their documents.

FOLDER/readings.jsonl    as `flowxpert readings export` writes them
FOLDER/documents/        the documents themselves, in any form that can be ingested
FOLDER/corrected.jsonl   optional: readings as they were before people corrected them
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from services.ingestion.converters import reader_of
from services.kit.files import read_bytes, read_text
from services.knowledge.screening.document import hash_of
from services.knowledge.screening.screening import screen_document
from services.runbook.model import Reading
from training.errors import SharedPagesError, UnusableMaterialError

READINGS, CORRECTED, DOCUMENTS = "readings.jsonl", "corrected.jsonl", "documents"
_APPROVED = "approved"
_NAMED = 5
"""Shared pages that a refusal names."""


class Page(NamedTuple):
    """A page whose reading people approved."""

    id: str
    """Of its document, in the folder."""
    text: str
    """As its readers see it."""
    reading: Reading
    before: Reading | None
    """What it was corrected from, where that is known."""


class Material(NamedTuple):
    """A folder as it was read."""

    pages: tuple[Page, ...]
    not_approved: int
    """Readings that are left out."""
    without_page: int
    """Approved readings whose page is not in the folder, as it now is."""
    hashes: Mapping[str, str]
    """SHA-256 of its files of readings, by name."""


def read_material(folder: Path) -> Material:
    """Its approved readings with their pages.

    Raises:
        UnusableMaterialError: It holds none, or a file cannot be read.
    """
    rows = list(_rows(folder / READINGS))
    before = {hashed: reading for hashed, _, reading in _rows(folder / CORRECTED, optional=True)}
    texts = {hash_of(text): (id_, text) for id_, text in page_texts(folder / DOCUMENTS).items()}
    approved = [row for row in rows if row[1]]
    pages = tuple(
        Page(*texts[hashed], reading, before.get(hashed))
        for hashed, _, reading in approved
        if hashed in texts
    )
    if not pages:
        raise UnusableMaterialError(
            f"no approved reading in {folder / READINGS} is of a page in {folder / DOCUMENTS}:"
            f" {len(rows)} readings, {len(approved)} of them approved, {len(texts)} pages"
        )
    files = [folder / name for name in (READINGS, CORRECTED) if (folder / name).exists()]
    return Material(
        pages,
        len(rows) - len(approved),
        len(approved) - len(pages),
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    )


def page_texts(folder: Path) -> dict[str, str]:
    """Texts as readers see them, by the path in the folder; what no converter knows is left out.

    Raises:
        UnusableMaterialError: There is no such folder.
    """
    if not folder.is_dir():
        raise UnusableMaterialError(f"expected a folder with documents at {folder}")
    texts = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        id_ = path.relative_to(folder).as_posix()
        if reader := reader_of(id_):
            texts[id_] = screen_document(reader.read(read_bytes(path)).text).text
    return texts


def refuse_shared(pages: Sequence[Page], test: Path) -> None:
    """Raise where pages to learn from are measured on.

    Texts are compared by their words, so that another form or spacing hides nothing.

    Raises:
        SharedPagesError: Some are.
        UnusableMaterialError: There is no such folder.
    """
    id_by_words = {_words(text): id_ for id_, text in page_texts(test).items()}
    shared = [
        (page.id, id_by_words[_words(page.text)])
        for page in pages
        if _words(page.text) in id_by_words
    ]
    if shared:
        named = ", ".join(f"{own} (there {other})" for own, other in shared[:_NAMED])
        more = f" and {len(shared) - _NAMED} more" if len(shared) > _NAMED else ""
        raise SharedPagesError(
            f"{len(shared)} pages to learn from are in the test folder {test}: {named}{more}."
            " Take them out of one of the two: figures on pages that were learned say nothing"
        )


def _words(text: str) -> str:
    return " ".join(text.casefold().split())


def _rows(path: Path, *, optional: bool = False) -> Iterator[tuple[str, bool, Reading]]:
    """Hash of the text, whether approved, and the reading."""
    if optional and not path.exists():
        return
    if not path.is_file():
        raise UnusableMaterialError(
            f"expected readings at {path}: `flowxpert readings export {path}` writes them"
        )
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            row = json.loads(line)
            reading = Reading.model_validate(row["reading"])
            yield row["text_hash"], row.get("state") == _APPROVED, reading
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise UnusableMaterialError(f"{path}, line {number}: no reading as exported") from error
