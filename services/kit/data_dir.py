"""The data folder of an embedded run: one process at a time owns it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.kit.errors import ConflictError, InvalidInputError

LOCK_FILE = "owner.lock"


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


def make_data_dir(folder: Path) -> None:
    """Create the folder if it is missing, readable for this user only.

    Raises:
        DataDirUnusableError: It cannot be created there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise DataDirUnusableError(f"no data folder can be made at {folder}: {error}") from error


@contextmanager
def own_data_dir(folder: Path) -> Iterator[Path]:
    """Create the folder, readable for this user only, and own it until the block ends.

    The operating system holds the lock, so it ends with the process, however that ends.

    Raises:
        DataDirInUseError: Another process owns it.
        DataDirUnusableError: It cannot be created there.
    """
    make_data_dir(folder)
    with (folder / LOCK_FILE).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DataDirInUseError(folder, file.read().strip() or "a process") from None
        describe_owner(folder)
        yield folder


def describe_owner(folder: Path, url: str = "") -> None:
    """Write a description of the owner, for the error message of a second process."""
    text = f"process {os.getpid()}" + (f" at {url}" if url else "")
    (folder / LOCK_FILE).write_text(text)
