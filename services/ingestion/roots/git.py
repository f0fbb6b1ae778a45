"""Git repository as a root, read object by object: no file is checked out, no hook is run."""

import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from dulwich.errors import NotGitRepository
from dulwich.object_store import BaseObjectStore
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.repo import Repo

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

SUFFIX = ".git"


def repository_of(path: Path) -> Path | None:
    """Return the bare repository that this path is, or leads into, or None."""
    for each in (path, *path.parents):
        if each.suffix == SUFFIX and (each / "HEAD").is_file() and (each / "objects").is_dir():
            return each
    return None


def open_repository(path: Path) -> Repo:
    """Open the repository, to be closed by the caller.

    Raises:
        UnusableRootError: It is broken.
    """
    try:
        return Repo(str(path))
    except (NotGitRepository, OSError) as error:
        raise UnusableRootError(f"{path.name!r} is no readable Git repository") from error


def scan_repository(
    repository: Repo, subfolder: PurePosixPath, settings: IngestionSettings
) -> RootScan:
    """Scan the newest commit's documents below `subfolder`; reading them needs it open.

    Raises:
        UnusableRootError: It holds no commit, or not that folder.
    """
    scan = RootScan()
    store, tree = repository.object_store, _tree(repository, subfolder)
    for path, blob_id in _files(store, tree, PurePosixPath(), scan):
        document_id = path.as_posix()
        if not scan.admits(document_id):
            continue
        size = store[blob_id].raw_length()
        if size > settings.max_file_bytes:
            scan.fail(document_id, too_large_reason(size, settings.max_file_bytes))
            continue
        scan.entries.append(
            RootEntry(
                document_id,
                _fingerprint(blob_id),
                size,
                partial(_read, store, blob_id, settings.max_file_bytes),
                find=partial(_find, store, tree),
            )
        )
        check_count(scan, settings, Path(repository.path))
    scan.entries.sort(key=lambda entry: entry.document_id)
    return scan


def _find(store: BaseObjectStore, tree: Tree, path: str) -> RootFile | None:
    """See `FileFinder`."""
    folder, mode, blob_id = tree, 0, ObjectID(b"")
    parts = PurePosixPath(path).parts
    for place, part in enumerate(parts, start=1):
        try:
            mode, blob_id = folder[part.encode()]
        except KeyError:
            return None
        if place < len(parts):
            inner = store[blob_id] if stat.S_ISDIR(mode) else None
            if not isinstance(inner, Tree):
                return None
            folder = inner
    if stat.S_ISLNK(mode):
        raise UnreadableDocumentError("it is a link, which is not followed in a repository")
    if not stat.S_ISREG(mode):
        return None
    return RootFile(
        _fingerprint(blob_id), store[blob_id].raw_length(), partial(_read, store, blob_id)
    )


def _read(store: BaseObjectStore, blob_id: ObjectID, limit: int) -> bytes:
    # The object is held for as long as it is read, not for as long as it is listed.
    data = store[blob_id].as_raw_string()
    if len(data) > limit:
        raise UnreadableDocumentError(too_large_reason(len(data), limit))
    return data


def _fingerprint(blob_id: ObjectID) -> str:
    return f"git-{blob_id.decode()}"


def _tree(repository: Repo, subfolder: PurePosixPath) -> Tree:
    try:
        commit = repository[repository.head()]
        node = repository[commit.tree] if isinstance(commit, Commit) else None
        for part in subfolder.parts:
            node = repository[node[part.encode()][1]] if isinstance(node, Tree) else None
    except KeyError as error:
        raise UnusableRootError(f"the repository has no folder {str(subfolder)!r}") from error
    if not isinstance(node, Tree):
        raise UnusableRootError(f"{str(subfolder)!r} is no folder of the repository")
    return node


def _files(
    store: BaseObjectStore, tree: Tree, folder: PurePosixPath, scan: RootScan
) -> Iterator[tuple[PurePosixPath, ObjectID]]:
    """Yield regular files; links and submodules lead elsewhere and are left out."""
    for entry in tree.items():
        name = entry.path.decode("utf-8", "backslashreplace")
        if name in {"", ".", ".."} or "/" in name:
            scan.fail(str(folder / "?"), "its name leads out of its folder")
        elif stat.S_ISDIR(entry.mode):
            if not is_ignored_folder(name):
                inner = store[entry.sha]
                if isinstance(inner, Tree):
                    yield from _files(store, inner, folder / name, scan)
        elif stat.S_ISREG(entry.mode) and isinstance(store[entry.sha], Blob):
            yield folder / name, entry.sha
        else:
            scan.skipped += 1
