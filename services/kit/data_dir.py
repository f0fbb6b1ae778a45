"""The data folder of an embedded run: one process at a time owns it."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from services.kit.errors import ConflictError, InvalidInputError

LOCK_FILE = "owner.lock"

_log = structlog.get_logger()


class DataDirInUseError(ConflictError):
    """Another process owns the folder."""

    def __init__(self, folder: Path, owner: str) -> None:
        """Take the folder and the owner's description of itself."""
        super().__init__(
            f"{folder} is in use by {owner}: stop that process, or choose another folder"
        )
        self.url = next((word for word in owner.split() if word.startswith("http")), "")
        """URL of the owner, if it serves."""


class DataDirUnusableError(InvalidInputError):
    """The path is a file, or is not writable."""


def make_data_dir(folder: Path) -> Path:
    """Create the folder if it is missing, readable for this user only; return its real path.

    Raises:
        DataDirUnusableError: It cannot be created there, or may not be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise DataDirUnusableError(
            f"no data folder can be made at {folder}: {error.strerror}"
        ) from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise DataDirUnusableError(f"the data folder {folder} is not open to this user")
    return folder.resolve()


@contextmanager
def own_data_dir(folder: Path) -> Iterator[Path]:
    """Create the folder, readable for this user only, and own it until the block ends.

    The operating system holds the lock, so it ends with the process, however that ends.

    Raises:
        DataDirInUseError: Another process owns it.
        DataDirUnusableError: It cannot be created there, or is closed to this user.
    """
    folder = make_data_dir(folder)
    try:
        lock = (folder / LOCK_FILE).open("a+")
    except OSError as error:
        raise DataDirUnusableError(
            f"the data folder {folder} cannot be locked by {LOCK_FILE}: {error.strerror}"
        ) from error
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DataDirInUseError(folder, file.read().strip() or "a process") from None
        file.seek(0)
        if killed := file.read().strip():
            _log.warning(
                "kit.process_was_killed",
                folder=str(folder),
                was=killed,
                to_do="repeat the command, which goes on; what was queued goes on by itself",
            )
        describe_owner(folder)
        try:
            yield folder
        finally:
            file.truncate(0)


def describe_owner(folder: Path, url: str = "") -> None:
    """Write a description of the owner, for the error message of a second process.

    Whoever ends by itself takes it away, so that what the next one reads tells of a killed process.
    """
    words = " ".join(["flowxpert", *sys.argv[1:2]])
    text = f"process {os.getpid()}, `{words}`" + (f" at {url}" if url else "")
    (folder / LOCK_FILE).write_text(text)
