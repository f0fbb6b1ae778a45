"""What stands under a root: documents to read, entries refused with a reason, the rest counted."""

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
"""Files that no folder keeps for those who troubleshoot, though a reader knows their suffix."""


class UnusableRootError(InvalidInputError):
    """A root that cannot be ingested as a whole; the message is the job's reason."""


@dataclass(frozen=True)
class File:
    """A file of a root, which need not be a document."""

    fingerprint: str
    """As that of an entry."""
    size: int
    """Bytes."""
    read: Callable[[int], bytes]
    """All of it; raises `UnreadableDocumentError` where it has more bytes than this, or is broken,
    and `OSError`."""


FileFinder = Callable[[str], File | None]
"""Finds a regular file of a root by its path from there, with forward slashes; None where there
is none. Raises `UnreadableDocumentError` where it must not be read: a link that leads elsewhere."""


def no_files(_path: str) -> File | None:
    """Find nothing: a root that holds documents alone."""
    return None


@dataclass(frozen=True)
class Entry:
    """A document that can be read."""

    document_id: str
    fingerprint: str
    """Equal fingerprints mean equal content; it is known without reading."""
    size: int
    """Bytes."""
    read: Callable[[], bytes]
    """Raises `UnreadableDocumentError` or `OSError`."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """What the platform says of it, in the place of what its front matter says."""
    find: FileFinder = no_files
    """Other files of its root, for as long as that is open."""


@dataclass
class Scan:
    """Everything under a root, in the order of the ids once it is complete."""

    entries: list[Entry] = field(default_factory=list)
    failed: list[FailedDocument] = field(default_factory=list)
    skipped: int = 0
    """Files whose form no reader knows, and files that are no documents."""

    def fail(self, document_id: str, reason: str) -> None:
        """Note an entry that is refused."""
        printable = document_id.encode("utf-8", "backslashreplace").decode()[:MAX_ID_LENGTH]
        self.failed.append(FailedDocument(document_id=printable, reason=reason))

    def admits(self, document_id: str) -> bool:
        """Whether an entry of this id is a document; when not, it is noted as what it is."""
        path = PurePosixPath(document_id)
        if not is_document(path.name):
            self.skipped += 1
            return False
        if not document_id.isprintable() or len(document_id.encode()) > MAX_ID_LENGTH:
            self.fail(document_id, "its path is too long or holds characters that cannot be shown")
            return False
        return True


def is_ignored_folder(name: str) -> bool:
    """Whether a folder holds what programs put there: version control, packages, caches."""
    return name.startswith(".") or name in _IGNORED_FOLDERS


def is_document(name: str) -> bool:
    """Whether a reader knows a file of this name, and it is no legal or build file."""
    lower = name.lower()
    if lower.startswith(".") or reader_of(lower) is None:
        return False
    return _IGNORED_NAMES.fullmatch(lower) is None


def check_count(scan: Scan, settings: IngestionSettings, root: Path) -> None:
    """Refuse a root that holds more than anybody means to ingest."""
    if len(scan.entries) > settings.max_documents:
        raise UnusableRootError(
            f"{root.name!r} holds more than {settings.max_documents:,} documents: "
            "ingest parts of it"
        )
