"""Links between documents: from a page's link targets to the ids of documents."""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import unquote, urlsplit

_EXTENSIONS = (".md", ".markdown", ".html", ".htm", ".txt", ".rst", ".pdf", ".docx")
_INDEX_NAMES = ("index", "readme", "_index")
_AT_ONCE = 200
"""Names in one search for documents: SQLite refuses an expression of a thousand parts."""


def normalise_link(target: str, document_id: str) -> str:
    """Resolve a link to a path from the root; empty if it leaves the documents.

    A site-absolute link keeps its path without the first slash: the site's root need not be the
    root of the ingested folder.
    """
    try:
        parts = urlsplit(target.strip())
    except ValueError:  # such as an unfinished IPv6 address
        return ""
    if parts.scheme or parts.netloc or not parts.path:
        return ""
    path = unquote(parts.path)
    if path.startswith("/"):
        return posixpath.normpath(path).lstrip("/")
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(document_id), path))
    return "" if joined.startswith("..") or joined == "." else joined


def linked_path(written: str, document_id: str) -> str:
    """Return the path of a link among the documents; empty if it leaves them or is no link."""
    try:
        return normalise_link(written, document_id)
    except ValueError:
        return ""


def linked_documents(
    written: Iterable[str],
    document_id: str,
    ids_with: Callable[[Sequence[str]], Iterable[str]],
) -> dict[str, str]:
    """Return the documents that links lead to, by the links as the page writes them.

    Links that lead out of the documents, or to an unknown one, are left out.

    Args:
        written: The links, with or without fragments.
        document_id: The document whose page they stand on.
        ids_with: `DocumentStore.ids_with`, or one like it.
    """
    paths = {link: path for link in written if (path := linked_path(link, document_id))}
    parts = list(dict.fromkeys(parts_of(paths.values())))
    ids = [
        id_
        for start in range(0, len(parts), _AT_ONCE)
        for id_ in ids_with(parts[start : start + _AT_ONCE])
    ]
    resolver = LinkResolver(dict.fromkeys(ids))
    resolved = ((link, resolver.resolve(path)) for link, path in paths.items())
    return {link: id_ for link, id_ in resolved if id_}


def parts_of(links: Iterable[str]) -> list[str]:
    """Return the parts that the ids of linked documents must contain, ignoring case."""
    # Outside ASCII, what is the same in lower case need not be as long: `ß` and `ss`.
    return [_name(link) if link.isascii() else link for link in links]


class LinkResolver:
    """Resolver of normalised links to the ids of existing documents."""

    def __init__(self, document_ids: Iterable[str]) -> None:
        """Index `document_ids`, all ids a link may lead to."""
        self._by_last_name: dict[str, list[str]] = {}
        for document_id in sorted(document_ids):
            self._by_last_name.setdefault(_name(document_id), []).append(document_id)

    def resolve(self, link: str) -> str | None:
        """Return the document whose path is or ends with the link, with or without an extension.

        One that ends with the extension as written is meant before any other.
        """
        wanted, written = f"/{_stem(link)}", f"/{link.strip('/')}"
        candidates = self._by_last_name.get(_name(link), [])
        ending = [c for c in candidates if f"/{_stem(c)}".endswith(wanted)]
        exact = [c for c in ending if f"/{c}".endswith(written)]
        return min(exact or ending, key=len, default=None)


def _stem(path: str) -> str:
    """Return the path without an extension, and without the file name of a folder's index page."""
    path = path.strip("/")
    root, extension = posixpath.splitext(path)
    stem = root if extension.lower() in _EXTENSIONS else path
    folder, _, name = stem.rpartition("/")
    return folder if folder and name.lower() in _INDEX_NAMES else stem


def _name(path: str) -> str:
    return posixpath.basename(_stem(path)).casefold()
