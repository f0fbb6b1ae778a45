"""Roots that documents came from, and the lookup of one by its path."""

import os
from pathlib import Path

from services.contracts.ingestion import IngestedRoot
from services.contracts.proposals import ACCEPTED_PAGES
from services.ingestion.catalogue.ledger import Ledger
from services.kit.errors import InvalidInputError, NotFoundError
from services.knowledge.ports import DocumentNotFoundError


class RootNotFoundError(NotFoundError):
    """No document in the stores came from this root."""


class Roots:
    """Roots by their paths as the ledger has them; the folders themselves may be gone."""

    def __init__(self, ledger: Ledger, pipeline: str, uploads: Path) -> None:
        """Tell outdated documents by `pipeline`; `uploads` keeps what was uploaded."""
        self._ledger = ledger
        self._pipeline = pipeline
        self.uploads = uploads

    def all(self) -> list[IngestedRoot]:
        """Return all roots in the order of their paths."""
        return [
            IngestedRoot(
                path=path,
                documents=counted.documents,
                outdated=counted.outdated,
                is_upload=path == str(self.uploads),
                is_there=path == ACCEPTED_PAGES or os.access(path, os.F_OK),
            )
            for path, counted in self._ledger.sources(self._pipeline).items()
        ]

    def find(self, name: str, *paths: str) -> IngestedRoot:
        """Return the first of these paths that is a root; without `paths`, `name` itself.

        Raises:
            RootNotFoundError: No document came from there.
        """
        by_path = {root.path: root for root in self.all()} if name else {}
        for path in paths or (os.path.normpath(name),):
            if path in by_path:
                return by_path[path]
        raise RootNotFoundError(
            f"no document came from {name!r}: `flowxpert roots` and /v1/roots list the known roots"
        )

    def removable(self, name: str, document_id: str) -> IngestedRoot:
        """Return the root from which all documents, or one uploaded document, are to be removed.

        Raises:
            RootNotFoundError: No document came from there.
            DocumentNotFoundError: The root has none of this id.
            InvalidInputError: The one document was not uploaded: it would come back. So would
                accepted pages.
        """
        root = self.find(name)
        check_removable(root)
        if document_id and root.path != str(self.uploads):
            raise InvalidInputError(
                f"{document_id!r} was not uploaded: take it out of {root.path!r} and ingest that "
                "again"
            )
        if document_id and self._ledger.source(document_id) != root.path:
            raise DocumentNotFoundError(f"no uploaded document has the id {document_id!r}")
        return root


def check_removable(root: IngestedRoot) -> None:
    """Refuse roots whose documents cannot be removed.

    Raises:
        InvalidInputError: They are accepted pages: what is accepted would come back.
    """
    if root.path == ACCEPTED_PAGES:
        raise InvalidInputError(
            "accepted pages are withdrawn, each by itself: `flowxpert proposals withdraw`"
        )
