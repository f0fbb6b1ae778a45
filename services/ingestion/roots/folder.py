"""Folder, checkout or single file as a root.

A Git checkout is read as the folder it is, without `.git`. Git itself is not asked what is
tracked: a checkout's own configuration can make `git` run any program.
"""

import os
import stat
from functools import partial
from pathlib import Path

from services.ingestion.converters import UnreadableDocumentError
from services.ingestion.roots.scan import (
    RootEntry,
    RootFile,
    RootScan,
    check_count,
    is_ignored_folder,
)
from services.ingestion.settings import IngestionSettings


def scan_folder(root: Path, settings: IngestionSettings) -> RootScan:
    """Scan all documents below `root` without following links."""
    scan = RootScan()
    resolved = root.resolve()
    for folder, names, files in os.walk(resolved):
        inner = (Path(folder, name) for name in names if not is_ignored_folder(name))
        names[:] = [each.name for each in inner if not _is_refused_link(each, resolved, scan)]
        for name in files:
            _add(scan, resolved, Path(folder, name), settings)
            check_count(scan, settings, root)
    scan.entries.sort(key=lambda entry: entry.document_id)
    return scan


def scan_file(path: Path, settings: IngestionSettings) -> RootScan:
    """Scan one file; its id is its name."""
    scan = RootScan()
    resolved = path.resolve()
    _add(scan, resolved.parent, resolved, settings)
    return scan


def _is_refused_link(path: Path, root: Path, scan: RootScan) -> bool:
    """Count or refuse a link: its target is found inside the root, or must stay out."""
    if not path.is_symlink():
        return False
    if not path.resolve().is_relative_to(root):
        scan.fail(_id(path, root), "it is a link that leads out of the ingested root")
    else:
        scan.skipped += 1
    return True


def _add(scan: RootScan, root: Path, path: Path, settings: IngestionSettings) -> None:
    document_id = _id(path, root)
    if not scan.admits(document_id) or _is_refused_link(path, root, scan):
        return
    try:
        status = path.stat(follow_symlinks=False)
    except OSError as error:
        scan.fail(document_id, f"it cannot be read: {error.strerror}")
        return
    if not stat.S_ISREG(status.st_mode):
        scan.skipped += 1
    elif status.st_size > settings.max_file_bytes:
        scan.fail(document_id, too_large_reason(status.st_size, settings.max_file_bytes))
    else:
        scan.entries.append(
            RootEntry(
                document_id,
                _fingerprint(status),
                status.st_size,
                partial(_read, path, settings.max_file_bytes),
                find=partial(_find, root),
            )
        )


def _find(root: Path, path: str) -> RootFile | None:
    """See `FileFinder`: a link is followed to a file of the same root."""
    try:
        target = root.joinpath(path).resolve(strict=True)
        status = target.stat(follow_symlinks=False)
    except (OSError, ValueError, RuntimeError):
        return None
    if not target.is_relative_to(root):
        raise UnreadableDocumentError("its path leads out of the ingested root")
    if not stat.S_ISREG(status.st_mode):
        return None
    return RootFile(_fingerprint(status), status.st_size, partial(_read, target))


def _fingerprint(status: os.stat_result) -> str:
    # The change time too, since `touch` and `cp --preserve` set the other at will.
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def _id(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _read(path: Path, limit: int) -> bytes:
    # The file may have been replaced by a link or have grown since it was found.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableDocumentError(too_large_reason(len(data), limit))
    return data


def too_large_reason(size: int, limit: int) -> str:
    """Return the reason why a document of `size` bytes is refused."""
    return f"it has {size:,} bytes, more than the {limit:,} allowed"
