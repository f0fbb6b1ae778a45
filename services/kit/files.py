"""Files and folders that a caller names: checked first, read within a bound, written whole.

Functions that check take one path, several, or none, as options of a command hold them, and return
them unchanged.
"""

import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TextIO, TypeVar

import structlog
import yaml
from pydantic import TypeAdapter, ValidationError

from services.kit.errors import FlowXpertError, InvalidInputError

_log = structlog.get_logger()

MOST_BYTES = 256 << 20
"""Largest file that is read into memory. An export of readings takes 20 kB a page."""

MOST_LINE_BYTES = 16 << 20
"""Longest line of a file that is read line by line."""

_STREAMS = ("/dev/", "/proc/self/fd/")
"""Places of pipes and devices that whoever calls has opened, such as `<(…)` of a shell."""

_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

Paths = TypeVar("Paths", Path, Path | None, list[Path], list[Path] | None)
Shape = TypeVar("Shape")


class UnusableFileError(InvalidInputError):
    """A file or folder is missing, of another kind, not open to this user, or not as expected."""


class UnwritableFileError(FlowXpertError):
    """A file could not be written to its end, such as on a full disk."""


def require_file(paths: Paths) -> Paths:
    """Check that each is a file that can be read.

    Raises:
        UnusableFileError: One is not.
    """
    for path in _each(paths):
        _require(path, "a file", os.R_OK)
    return paths


def require_folder(paths: Paths) -> Paths:
    """Check that each is a folder that can be listed.

    Raises:
        UnusableFileError: One is not.
    """
    for path in _each(paths):
        _require(path, "a folder", os.R_OK | os.X_OK)
    return paths


def require_file_or_folder(paths: Paths) -> Paths:
    """Check that each is a file or a folder that can be read.

    Raises:
        UnusableFileError: One is not.
    """
    for path in _each(paths):
        _require(path, "a file or a folder", os.R_OK)
    return paths


def require_new_file(paths: Paths) -> Paths:
    """Check that a file can be written at each path, over one that is there; make its folder.

    Raises:
        UnusableFileError: None can.
    """
    for path in _each(paths):
        _make_folder(path.parent)
        try:
            path.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UnusableFileError(f"no file can be made at {path}: {error.strerror}") from error
        _require(path, "a file", os.W_OK)
    return paths


def require_new_folder(paths: Paths) -> Paths:
    """Check that files can be written in each folder; make it where it is missing.

    Raises:
        UnusableFileError: None can.
    """
    for path in _each(paths):
        _make_folder(path)
    return paths


def read_bytes(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """Read a file.

    Raises:
        UnusableFileError: It is none that can be read, or has more than `most` bytes.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read(most + 1) if size <= most else b""
    except OSError as error:
        raise UnusableFileError(f"{path} cannot be read: {error.strerror}") from error
    if max(size, len(content)) > most:
        raise UnusableFileError(
            f"expected at most {most:,} bytes in {path}, got {f'{size:,}' if size else 'more'}"
        )
    return content


def read_text(path: Path, *, errors: str = "strict", most: int = MOST_BYTES) -> str:
    """Read a file as UTF-8, its line ends as newlines.

    Raises:
        UnusableFileError: It cannot be read, is no such text, or has more than `most` bytes.
    """
    try:
        text = read_bytes(path, most=most).decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise UnusableFileError(f"expected UTF-8 text in {path}: {error}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: Path, shape: type[Shape] = object) -> Shape:  # type: ignore[assignment] # of any
    """Read a file of JSON and check its shape: a model, or a type such as `dict[str, int]`.

    Raises:
        UnusableFileError: It cannot be read, is no JSON, or has another shape.
    """
    return parse_json(read_bytes(path), shape, str(path))


def read_json_lines(path: Path, shape: type[Shape]) -> Iterator[tuple[str, Shape]]:
    """Read the lines of a file that are not blank, each with the name of its place.

    Raises:
        UnusableFileError: It cannot be read, or a line has another shape.
    """
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            place = f"{path.name}, line {number}"
            yield place, parse_json(line, shape, place)


def parse_json(text: str | bytes, shape: type[Shape], place: str) -> Shape:
    """Parse JSON of this shape that stands at `place`.

    Raises:
        UnusableFileError: It is no JSON, or has another shape.
    """
    try:
        return _shaped(json.loads(text), shape, place)
    except (ValueError, RecursionError) as error:
        raise UnusableFileError(f"expected JSON in {place}: {error}") from error


def read_yaml(path: Path, shape: type[Shape]) -> Shape:
    """Read a file of YAML and check its shape.

    Raises:
        UnusableFileError: It cannot be read, is no YAML, or has another shape.
    """
    try:
        return _shaped(yaml.safe_load(read_text(path)), shape, str(path))
    except (yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UnusableFileError(f"expected YAML in {path}: {reason}") from error


def stream_lines(path: Path) -> Generator[bytes]:
    """Yield the lines of a file of any size.

    Raises:
        UnusableFileError: It cannot be read, or a line is too long.
    """
    require_file(path)
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(line) > MOST_LINE_BYTES:
                raise UnusableFileError(
                    f"expected lines of at most {MOST_LINE_BYTES:,} bytes in {path}: line {number}"
                    " is longer"
                )
            yield line


@contextmanager
def scratch_beside(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target`, `.<name>.<random>.part`, that goes with the block.

    Folders that killed processes left there are removed, and logged. Whoever works in one holds a
    lock on it, which ends with the process.

    Raises:
        OSError: None can be made there.
    """
    for left in target.parent.glob(".*.part"):
        with suppress(OSError), _locked(left):
            shutil.rmtree(left)
            _log.warning("kit.broken_off_file_removed", path=str(left))
    with ExitStack() as opened:
        while True:
            made = tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
            opened.callback(shutil.rmtree, made, ignore_errors=True)
            with suppress(OSError):  # another process took it for one that was left
                opened.enter_context(_locked(Path(made)))
                if Path(made).exists():
                    break
        yield Path(made)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


@contextmanager
def write_whole(path: Path) -> Iterator[TextIO]:
    """Yield a text file that takes the place of `path` when the block ends without an error.

    A process that is killed meanwhile leaves what was there before.

    Raises:
        UnwritableFileError: The disk is full, or the file may not be written.
    """
    is_stream = path.exists() and not path.is_file()  # such as /dev/stdout
    try:
        with nullcontext(path.parent) if is_stream else scratch_beside(path) as folder:
            with (folder / path.name).open("w", encoding="utf-8") as file:
                yield file
            if not is_stream:
                (folder / path.name).replace(path)
    except OSError as error:
        raise UnwritableFileError(f"{path} cannot be written: {error.strerror}") from error


@contextmanager
def describe_os_errors() -> Iterator[None]:
    """Turn what the operating system refuses into one sentence, at the edge of a program.

    Raises:
        UnwritableFileError: It refused something that nobody had checked.
    """
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        raise UnwritableFileError(f"{error.filename or 'a file'}: {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole, as `write_whole` does."""
    with write_whole(path) as file:
        file.write(text)


def _shaped(content: Any, shape: type[Shape], place: str) -> Shape:  # noqa: ANN401 - it is checked here
    try:
        return TypeAdapter(shape).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        reason = f"{where}: {first['msg']}" if where else first["msg"]
        raise UnusableFileError(f"{place} is not as expected: {reason}") from error


def _each(paths: Path | list[Path] | None) -> list[Path]:
    return [paths] if isinstance(paths, Path) else list(paths or ())


def _require(path: Path, expected: str, access: int) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        came = "nothing"
    except OSError as error:
        came = str(error.strerror)
    else:
        came = _KINDS.get(stat.S_IFMT(mode), "something else")
        is_stream = came != "a folder" and str(path).startswith(_STREAMS)
        if came in expected or (is_stream and "a file" in expected):
            if os.access(path, access):
                return
            came = f"one that this user may not {'write' if access == os.W_OK else 'read'}"
    raise UnusableFileError(f"expected {expected} at {path}, got {came}")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnusableFileError(f"no folder can be made at {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise UnusableFileError(f"nothing can be written in {path}: this user may not")
