"""A zip archive as a root, read member by member: nothing is ever unpacked to the disk."""

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from services.ingestion.converters import UnreadableDocumentError
from services.ingestion.roots.folder import too_large
from services.ingestion.roots.scan import (
    Entry,
    Scan,
    UnusableRootError,
    check_count,
    is_ignored_folder,
)
from services.ingestion.settings import IngestionSettings

_HONEST_BYTES = 1_000_000
"""Text of one letter packs a thousandfold; below this size the ratio is not looked at."""


def open_archive(path: Path) -> zipfile.ZipFile:
    """The archive, to be closed by the caller.

    Raises:
        UnusableRootError: It is broken, or no zip archive at all.
    """
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise UnusableRootError(f"{path.name!r} is no readable zip archive: {error}") from error


def scan_archive(archive: zipfile.ZipFile, path: Path, settings: IngestionSettings) -> Scan:
    """All documents of the archive; reading them needs it open.

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
    scan = Scan()
    seen: set[str] = set()
    for member in members:
        _add(scan, archive, member, settings, seen)
        check_count(scan, settings, path)
    scan.entries.sort(key=lambda entry: entry.document_id)
    return scan


def _add(
    scan: Scan,
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    settings: IngestionSettings,
    seen: set[str],
) -> None:
    document_id = member.filename.replace("\\", "/")
    path = PurePosixPath(document_id)
    if path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]:
        scan.fail(document_id, "its path leads out of the archive")
        return
    if any(is_ignored_folder(part) for part in path.parts[:-1]):
        return
    document_id = path.as_posix()
    if not scan.admits(document_id):
        return
    if reason := _refusal(member, settings, is_second=document_id in seen):
        scan.fail(document_id, reason)
        return
    seen.add(document_id)
    fingerprint = f"{member.file_size}-crc{member.CRC:08x}"
    limit, size = settings.max_file_bytes, member.file_size
    scan.entries.append(
        Entry(document_id, fingerprint, size, lambda: _read(archive, member, limit))
    )


def _refusal(member: zipfile.ZipInfo, settings: IngestionSettings, *, is_second: bool) -> str:
    """Why a member is not read; empty when it is."""
    if is_second:
        return "the archive holds two files of this path"
    if member.flag_bits & 0x1:
        return "it is encrypted: remove the archive's password"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "it is a link, which an archive cannot follow"
    if member.file_size > settings.max_file_bytes:
        return too_large(member.file_size, settings.max_file_bytes)
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
        raise UnreadableDocumentError(too_large(len(data), limit))
    return data
