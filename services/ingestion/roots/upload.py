"""Upload of files into a folder of their own, which stays after their job has read them."""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from services.contracts.ingestion import Upload
from services.ingestion.settings import IngestionSettings
from services.kit.errors import InvalidInputError, PayloadTooLargeError

_BLOCK = 1 << 20


def store_files(files: Sequence[Upload], folder: Path, settings: IngestionSettings) -> None:
    """Write the files into `folder`, or leave nothing.

    Raises:
        InvalidInputError: No file, a name that leads elsewhere, or the same name twice.
        PayloadTooLargeError: Too many files, or too large.
    """
    if not files:
        raise InvalidInputError("expected at least one file in the form field `files`")
    if len(files) > settings.max_upload_files:
        raise PayloadTooLargeError(
            f"{len(files)} files came, {settings.max_upload_files} are allowed: send a zip archive"
        )
    folder.mkdir(parents=True)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        _store_files(files, folder, settings.max_upload_bytes)
        undo.pop_all()


def _store_files(files: Sequence[Upload], folder: Path, room: int) -> None:
    for file in files:
        target = folder.joinpath(*_parts(file.name))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            room -= _copy(file.content, target, room)
        except (FileExistsError, IsADirectoryError) as error:
            raise InvalidInputError(f"the name {file.name!r} came twice") from error
        except OSError as error:
            raise InvalidInputError(f"{file.name!r} cannot be kept: {error.strerror}") from error


def _parts(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name.replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        raise InvalidInputError(f"expected a relative file name, got {name[:200]!r}")
    if not name.isprintable():
        raise InvalidInputError(f"a file name must be printable, got {name[:200]!r}")
    return path.parts


def _copy(content: BinaryIO, target: Path, room: int) -> int:
    written = 0
    with target.open("xb") as file:
        while block := content.read(_BLOCK):
            written += len(block)
            if written > room:
                raise PayloadTooLargeError("the upload is larger than allowed: send it in parts")
            file.write(block)
    return written
