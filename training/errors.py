"""Why a training run was refused or could not go on."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError

from services.kit.errors import ConflictError, InvalidInputError, UnavailableError

_FULL = ("No space left", "PytorchStreamWriter failed writing", "unexpected pos")
"""How safetensors and torch say it, who tell no number; the last is of a file cut off."""


class UnusableMaterialError(InvalidInputError):
    """What is to be learned from cannot be read, or is too little."""


class UnusableModelError(InvalidInputError):
    """A folder holds no model that can be trained, or the tools for it are not installed."""


class SharedPagesError(ConflictError):
    """What is to be learned from has pages of what is measured on."""


class OtherBaseError(ConflictError):
    """An adapter was trained on another base model."""


class OtherRunError(ConflictError):
    """A run's folder was begun with other settings or material."""


class DiskFullError(UnavailableError):
    """A checkpoint could not be written; the one before it stands."""


class OutOfMemoryError(UnavailableError):
    """The device's memory does not hold a step."""


@contextmanager
def disk_watched(folder: Path) -> Iterator[None]:
    """Say in plain words that the disk is full.

    Raises:
        DiskFullError: It is.
    """
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        is_full = isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}
        if not is_full and not any(phrase in str(error) for phrase in _FULL):
            raise
        raise DiskFullError(
            f"no room for a checkpoint in {folder}: free some and start the same command again; it"
            " goes on from the last checkpoint, which is whole"
        ) from error


@contextmanager
def memory_watched(batch: int) -> Iterator[None]:
    """Say what to lower where a step does not fit; `batch` is how many rows it had.

    Raises:
        OutOfMemoryError: It does not fit.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and (
            "allocate memory" not in str(error)
        ):
            raise
        raise OutOfMemoryError(
            f"a step of {batch} rows does not fit into memory: lower --batch (now {batch}) first,"
            " then --most-tokens, then --rank; a smaller base model is the last resort. The same"
            " command goes on from the last checkpoint"
        ) from error
