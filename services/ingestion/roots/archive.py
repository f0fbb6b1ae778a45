"""Zip archive as a root, read member by member: nothing is ever unpacked to the disk."""

import stat
import zipfile
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath

from services.ingestion.converters import UnreadableDocumentError
from services.ingestion.roots.folder import too_large_reason
from services.ingestion.roots.scan import (
    RootEntry,
    RootFile,
    RootScan,
    UnusableRootError,
    check_count,
    is_ignored_folder,
)
from services.ingestion.settings import IngestionSettings

_HONEST_BYTES = 1_000_000
"""Size below which the ratio is ignored: text of one letter packs a thousandfold."""


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open the archive, to be closed by the caller.

    Raises:
        UnusableRootError: It is broken, or no zip archive at all.
    """
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise UnusableRootError(f"{path.name!r} is no readable zip archive: {error}") from error


def scan_archive(archive: zipfile.ZipFile, path: Path, settings: IngestionSettings) -> RootScan:
    """Scan all documents of the archive; reading them needs it open.

    Raises:
        UnusableRootError: More entries or more bytes than allowed: taken for a bomb as a whole.
    """
    members = [member for member in archive.infolist() if not member.is_dir()]
    total = sum(member.file_size for member in members)
    if len(members) > 10 * settings.max_documents or total > settings.max_archive_bytes:
        raise UnusableRootError(
            f"{path.name!r} expands to {len(members):,} files of {total:,} bytes together; "
            f"{settings.max_archive_bytes:,} bytes are allowed"
        )
    scan = RootScan()
    named = {_name(member): member for member in reversed(members)}
    for member in members:
        _add(scan, archive, member, settings, named)
        check_count(scan, settings, path)
    scan.entries.sort(key=lambda entry: entry.document_id)
    return scan


def _add(
    scan: RootScan,
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    settings: IngestionSettings,
    named: Mapping[str, zipfile.ZipInfo],
) -> None:
    document_id = _name(member)
    path = PurePosixPath(document_id)
    if path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]:
        scan.fail(document_id, "its path leads out of the archive")
        return
    if any(is_ignored_folder(part) for part in path.parts[:-1]):
        return
    if not scan.admits(document_id):
        return
    if reason := _refusal(member, settings, is_second=named[document_id] is not member):
        scan.fail(document_id, reason)
        return
    scan.entries.append(
        RootEntry(
            document_id,
            _fingerprint(member),
            member.file_size,
            partial(_read, archive, member, settings.max_file_bytes),
            find=partial(_find, archive, named, settings),
        )
    )


def _find(
    archive: zipfile.ZipFile,
    named: Mapping[str, zipfile.ZipInfo],
    settings: IngestionSettings,
    path: str,
) -> RootFile | None:
    """See `FileFinder`."""
    member = named.get(path)
    if member is None:
        return None
    if reason := _refusal(member, settings, is_second=False):
        raise UnreadableDocumentError(reason)
    return RootFile(_fingerprint(member), member.file_size, partial(_read, archive, member))


def _name(member: zipfile.ZipInfo) -> str:
    return PurePosixPath(member.filename.replace("\\", "/")).as_posix()


def _fingerprint(member: zipfile.ZipInfo) -> str:
    return f"{member.file_size}-crc{member.CRC:08x}"


def _refusal(member: zipfile.ZipInfo, settings: IngestionSettings, *, is_second: bool) -> str:
    """Return why a member is not read, or nothing if it is."""
    if is_second:
        return "the archive holds two files of this path"
    if member.flag_bits & 0x1:
        return "it is encrypted: remove the archive's password"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "it is a link, which an archive cannot follow"
    if member.file_size > settings.max_file_bytes:
        return too_large_reason(member.file_size, settings.max_file_bytes)
    packed = max(member.compress_size, 1)
    if member.file_size > max(_HONEST_BYTES, settings.max_archive_ratio * packed):
        return f"it expands from {packed:,} to {member.file_size:,} bytes: a zip bomb"
    return ""


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    try:
        with archive.open(member) as file:
            data = file.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        raise UnreadableDocumentError(f"the archive is broken here: {error}") from error
    if len(data) > limit:
        raise UnreadableDocumentError(too_large_reason(len(data), limit))
    return data
