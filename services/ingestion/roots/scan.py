"""Scan of a root: documents to read, entries refused with a reason, and a count of the rest."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from services.contracts.ingestion import FailedDocument
from services.ingestion.converters import reader_of
from services.ingestion.settings import IngestionSettings
from services.ingestion.tables import MAX_ID_LENGTH
from services.kit.errors import InvalidInputError

_IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "__MACOSX", "venv", "site-packages"})
_IGNORED_NAMES = re.compile(
    r"(licen[cs]e|copying|notice|authors|code_of_conduct|robots|cmakelists)\.\w+"
    r"|(requirements|constraints)([-_.]\w+)*\.txt"
)
"""Names of files that nobody keeps for troubleshooting, though a reader knows the suffix."""


class UnusableRootError(InvalidInputError):
    """The root cannot be ingested as a whole; the message is the job's reason."""


@dataclass(frozen=True)
class RootFile:
    """File of a root, which need not be a document."""

    fingerprint: str
    """Fingerprint like that of an entry."""
    size: int
    """Size in bytes."""
    read: Callable[[int], bytes]
    """Function that returns all of it.

    Raises `UnreadableDocumentError` if it has more bytes than its argument or is broken, and
    `OSError`.
    """


FileFinder = Callable[[str], RootFile | None]
"""Function that finds a regular file of a root by its path from there, with forward slashes.

Returns None if there is none. Raises `UnreadableDocumentError` if it must not be read: a link
that leads elsewhere.
"""


def no_files(_path: str) -> RootFile | None:
    """Return None: for a root that has documents alone."""
    return None


@dataclass(frozen=True)
class RootEntry:
    """Document of a root that can be read."""

    document_id: str
    fingerprint: str
    """Fingerprint known without reading; equal ones mean equal content."""
    size: int
    """Size in bytes."""
    read: Callable[[], bytes]
    """Function that returns the content; raises `UnreadableDocumentError` or `OSError`."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Front matter set by the platform, which replaces what the document says."""
    find: FileFinder = no_files
    """Finder of other files of its root, for as long as that is open."""


@dataclass
class RootScan:
    """Contents of a root, sorted by the ids of documents once complete."""

    entries: list[RootEntry] = field(default_factory=list)
    failed: list[FailedDocument] = field(default_factory=list)
    skipped: int = 0
    """Number of files whose format no reader knows, or that are no documents."""

    def fail(self, document_id: str, reason: str) -> None:
        """Note an entry that is refused."""
        printable = document_id.encode("utf-8", "backslashreplace").decode()[:MAX_ID_LENGTH]
        self.failed.append(FailedDocument(document_id=printable, reason=reason))

    def admits(self, document_id: str) -> bool:
        """Return True if an entry of this id is a document; otherwise note why not."""
        if why_no_document(document_id):
            self.skipped += 1
            return False
        if not document_id.isprintable() or len(document_id.encode()) > MAX_ID_LENGTH:
            self.fail(document_id, "its path is too long or holds characters that cannot be shown")
            return False
        return True


def is_ignored_folder(name: str) -> bool:
    """Return True for folders made by programs: version control, packages, caches."""
    return name.startswith(".") or name in _IGNORED_FOLDERS


def why_no_document(document_id: str) -> str:
    """Return the reason why a file of this path is left out; empty if it may be a document."""
    path = PurePosixPath(document_id)
    name = path.name.lower()
    folder = next(filter(is_ignored_folder, path.parts[:-1]), None)
    if folder is not None:
        return f"it is in a folder {folder!r}, which programs make"
    if name.startswith("."):
        return "its name begins with a dot: such files are hidden"
    if _IGNORED_NAMES.fullmatch(name):
        return "files of this name help nobody to repair"
    return "" if reader_of(name) else "no reader knows files of this name"


def check_count(scan: RootScan, settings: IngestionSettings, root: Path) -> None:
    """Refuse a root with more documents than `max_documents`."""
    if len(scan.entries) > settings.max_documents:
        raise UnusableRootError(
            f"{root.name!r} holds more than {settings.max_documents:,} documents: "
            "ingest parts of it"
        )
