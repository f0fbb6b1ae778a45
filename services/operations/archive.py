"""The file of a backup: a zip archive of streams, each with its checksum in the manifest."""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self

from pydantic import BaseModel, ConfigDict

from services.kit.errors import InvalidInputError

FORMAT = 1
MANIFEST = "manifest.json"
_BLOCK = 1 << 20


class UnusableBackupError(InvalidInputError):
    """The file is no backup, is broken, or was made by something newer."""


class Part(BaseModel):
    """One stream of the backup."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    size: int
    """Bytes, unpacked."""
    rows: int = 0
    """Lines, where it is a table."""


class Manifest(BaseModel):
    """What a backup holds."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    version: str
    """Of the platform that made it."""
    made_at: datetime
    revisions: dict[str, str]
    """Of the tables, by room."""
    documents: int
    cases: int
    """Past tickets of the graph."""
    parts: dict[str, Part]


class Writer:
    """Writes streams, and the manifest last: a file without one is no backup."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.parts: dict[str, Part] = {}

    def add_lines(self, name: str, lines: Iterable[bytes]) -> int:
        """A stream of lines; returns how many."""
        return self._add(name, lines, are_rows=True)

    def add_file(self, name: str, path: Path) -> None:
        """A file as it is."""
        with path.open("rb") as file:
            self._add(name, iter(lambda: file.read(_BLOCK), b""), are_rows=False)

    def _add(self, name: str, blocks: Iterable[bytes], *, are_rows: bool) -> int:
        digest, size, number = hashlib.sha256(), 0, 0
        with self._archive.open(name, "w", force_zip64=True) as stream:
            for block in blocks:
                stream.write(block)
                digest.update(block)
                size += len(block)
                number += 1
        rows = number if are_rows else 0
        self.parts[name] = Part(sha256=digest.hexdigest(), size=size, rows=rows)
        return number

    def finish(
        self, version: str, revisions: dict[str, str], *, documents: int, cases: int
    ) -> Manifest:
        """Write the manifest."""
        manifest = Manifest(
            version=version,
            made_at=datetime.now(UTC),
            revisions=revisions,
            documents=documents,
            cases=cases,
            parts=self.parts,
        )
        self._archive.writestr(MANIFEST, manifest.model_dump_json(indent=2))
        return manifest


class Reader:
    """A backup that is read; use it as a context."""

    def __init__(self, path: Path) -> None:
        """Opens the file.

        Raises:
            UnusableBackupError: It is none.
        """
        try:
            self._archive = zipfile.ZipFile(path)
            self.manifest = Manifest.model_validate_json(self._archive.read(MANIFEST))
        except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
            raise UnusableBackupError(f"{str(path)!r} is no whole backup: {error}") from error
        if self.manifest.format > FORMAT:
            raise UnusableBackupError("a newer FlowXpert made this backup: upgrade first")

    def check(self) -> None:
        """Read everything once and compare.

        Raises:
            UnusableBackupError: A stream is not what was written.
        """
        for name, part in self.manifest.parts.items():
            digest = hashlib.sha256()
            try:
                with self.open(name) as stream:
                    while block := stream.read(_BLOCK):
                        digest.update(block)
            except (zipfile.BadZipFile, EOFError, OSError, KeyError) as error:
                raise UnusableBackupError(f"{name!r} cannot be read: {error}") from error
            if digest.hexdigest() != part.sha256:
                raise UnusableBackupError(f"{name!r} is not what was written")

    def open(self, name: str) -> IO[bytes]:
        """A stream, to be closed by the caller."""
        return self._archive.open(name)

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a stream."""
        with self.open(name) as stream:
            yield from stream

    def messages(self, name: str) -> Iterator[object]:
        """Its lines, read as JSON."""
        return map(json.loads, self.lines(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
