"""Checkpoints that are whole or not there: written beside, then renamed."""

import os
import shutil
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from services.kit.value import Value
from training.errors import OtherRunError, disk_watched

_PREFIX, _UNFINISHED = "step-", ".unfinished-"

State = Mapping[str, Any]
"""Tensors, numbers and words, in maps and lists: what loads without running code."""


class Checkpoints:
    """Of one phase of a run; the last is kept."""

    def __init__(self, folder: Path) -> None:
        """What an earlier process left unfinished in `folder` is removed."""
        self.folder = folder
        for left in folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)

    def save(self, step: int, state: State) -> None:
        """Keep the state after so many steps, and then drop the one before.

        Raises:
            DiskFullError: There is no room; the one before stands.
        """
        written = BytesIO()
        torch.save(dict(state), written)
        put_folder(
            self.folder / f"{_PREFIX}{step:08d}",
            lambda at: put_file(at / "state.pt", written.getvalue()),
        )
        for older in self._kept()[:-1]:
            shutil.rmtree(older)

    def last(self) -> dict[str, Any] | None:
        """The state to go on from; None where there is none."""
        kept = self._kept()
        if not kept:
            return None
        state: dict[str, Any] = torch.load(
            kept[-1] / "state.pt", map_location="cpu", weights_only=True
        )
        return state

    def _kept(self) -> list[Path]:
        return sorted(self.folder.glob(f"{_PREFIX}*"))


def put_folder(target: Path, write: Callable[[Path], None]) -> None:
    """A folder that appears at once, with all that `write` puts into it.

    Raises:
        DiskFullError: There is no room; nothing appears.
    """
    beside = target.parent / f"{_UNFINISHED}{target.name}"
    shutil.rmtree(beside, ignore_errors=True)
    with disk_watched(target.parent):
        try:
            beside.mkdir(parents=True)
            write(beside)
            _flushed(beside)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        beside.rename(target)
        _flushed(target.parent)


def put_file(target: Path, content: bytes) -> None:
    """A file that is replaced at once.

    Raises:
        DiskFullError: There is no room; what was there stands.
    """
    beside = target.with_name(f"{_UNFINISHED}{target.name}")
    with disk_watched(target.parent):
        try:
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        beside.replace(target)
        _flushed(target.parent)


def random_states() -> dict[str, Any]:
    """Of torch, on every device: what samples and dropout are drawn from."""
    on_device = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {"cpu": torch.get_rng_state(), "cuda": on_device}


def restore_random_states(states: Mapping[str, Any]) -> None:
    """Go on drawing where `random_states` was taken."""
    torch.set_rng_state(states["cpu"])
    if states["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(states["cuda"])


def _flushed(folder: Path) -> None:
    """Renames in a folder last only once it is flushed itself."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def begin(path: Path, begun: Value) -> None:
    """Keep how a run was begun, or compare with how it was.

    Raises:
        OtherRunError: It was begun with something else.
    """
    if not path.exists():
        put_file(path, begun.model_dump_json(indent=1).encode())
        return
    before = type(begun).model_validate_json(path.read_bytes())
    other = [
        name for name in type(begun).model_fields if getattr(before, name) != getattr(begun, name)
    ]
    if other:
        raise OtherRunError(
            f"{path.parent} was begun with another {' and '.join(other)}: name another folder, or"
            " start as before to go on"
        )
