"""Opening of a root of any kind for one job."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from mimetypes import guess_type
from pathlib import Path, PurePosixPath

from services.ingestion.roots.archive import open_archive, scan_archive
from services.ingestion.roots.folder import scan_file, scan_folder
from services.ingestion.roots.git import open_repository, repository_of, scan_repository
from services.ingestion.roots.scan import RootScan, UnusableRootError, why_no_document
from services.ingestion.settings import IngestionSettings

ARCHIVE_SUFFIX = ".zip"


def is_archive(path: Path) -> bool:
    """Return True if the path names a zip archive."""
    return path.suffix.lower() == ARCHIVE_SUFFIX


def owner_of(path: Path) -> str:
    """Return the source of the documents at `path`: the folder or archive their ids start from."""
    resolved = path.resolve()
    is_whole = resolved.is_dir() or is_archive(resolved) or repository_of(resolved) is not None
    return str(resolved if is_whole else resolved.parent)


@contextmanager
def open_root(
    path: Path, settings: IngestionSettings, *, expand_archives: bool = False
) -> Iterator[RootScan]:
    """Scan the documents at `path`; they are readable as long as the context lasts.

    With `expand_archives` the archives that lie directly in a folder are read as if each were
    ingested by itself.

    Raises:
        UnusableRootError: Nothing is there, or it is no folder, file or archive that can be read.
    """
    with ExitStack() as stack:
        bare = repository_of(path)
        if bare is not None:
            repository = stack.enter_context(open_repository(bare))
            scan = scan_repository(repository, PurePosixPath(path.relative_to(bare)), settings)
        elif path.is_dir():
            scan = scan_folder(path, settings)
            if expand_archives:
                _name_left_out(scan, path)
            for archive in sorted(path.iterdir()) if expand_archives else ():
                if is_archive(archive):
                    _expand(scan, archive, settings, stack)
        elif not path.is_file():
            raise UnusableRootError(f"expected a folder, a file or a zip archive at {str(path)!r}")
        elif is_archive(path):
            archive_file = stack.enter_context(open_archive(path))
            scan = scan_archive(archive_file, path, settings)
        else:
            scan = scan_file(path, settings)
        yield scan


def _name_left_out(scan: RootScan, folder: Path) -> None:
    """Refuse by name what was sent and is no document; pictures belong to the pages beside them."""
    scan.skipped = 0
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        document_id = file.relative_to(folder).as_posix()
        is_picture = (guess_type(file.name)[0] or "").startswith("image/")
        if (file.parent == folder and is_archive(file)) or is_picture:
            scan.skipped += 1
        elif reason := why_no_document(document_id):
            scan.fail(document_id, reason)


def _expand(scan: RootScan, path: Path, settings: IngestionSettings, stack: ExitStack) -> None:
    scan.skipped -= 1  # The folder counted the archive as a file that no reader knows.
    try:
        archive = stack.enter_context(open_archive(path))
        inner = scan_archive(archive, path, settings)
    except UnusableRootError as error:
        scan.fail(path.name, str(error))
        return
    ids = {entry.document_id for entry in scan.entries}
    for entry in inner.entries:
        if entry.document_id in ids:
            scan.fail(entry.document_id, "the upload holds two documents of this path")
        else:
            scan.entries.append(entry)
    scan.failed += inner.failed
    scan.skipped += inner.skipped
    scan.entries.sort(key=lambda entry: entry.document_id)
