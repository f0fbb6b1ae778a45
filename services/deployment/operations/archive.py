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


class BackupPart(BaseModel):
    """One stream of the backup."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    size: int
    """Bytes, unpacked."""
    rows: int = 0
    """Number of lines, if it is a table."""


class Manifest(BaseModel):
    """Contents of a backup: its streams and the state they were taken from."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    version: str
    """Version of the platform that made it."""
    made_at: datetime
    revisions: dict[str, str]
    """Revisions of the tables, by room."""
    documents: int
    cases: int
    """Number of past tickets in the graph."""
    parts: dict[str, BackupPart]


class BackupWriter:
    """Writer of streams, and of the manifest last: a file without one is no backup."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.parts: dict[str, BackupPart] = {}

    def add_lines(self, name: str, lines: Iterable[bytes]) -> int:
        """Add a stream of lines and return their number."""
        return self._add(name, lines, are_rows=True)

    def add_file(self, name: str, path: Path) -> None:
        """Add a file unchanged."""
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
        self.parts[name] = BackupPart(sha256=digest.hexdigest(), size=size, rows=rows)
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


class BackupReader:
    """Open backup; use it as a context."""

    def __init__(self, path: Path) -> None:
        """Open the file and read its manifest.

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
        """Read all streams once and compare their checksums.

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
        """Open a stream; the caller closes it."""
        return self._archive.open(name)

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a stream."""
        with self.open(name) as stream:
            yield from stream

    def messages(self, name: str) -> Iterator[object]:
        """Yield the lines of a stream, parsed as JSON."""
        return map(json.loads, self.lines(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
