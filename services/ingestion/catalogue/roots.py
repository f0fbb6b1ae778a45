"""The roots that documents came from, and which of them somebody means."""

import os
from pathlib import Path

from services.contracts.ingestion import IngestedRoot
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.tables import ACCEPTED_PAGES
from services.kit.errors import InvalidInputError, NotFoundError
from services.knowledge.ports import DocumentNotFoundError


class RootNotFoundError(NotFoundError):
    """No document in the stores came from this root."""


class Roots:
    """Known by their paths as the ledger has them, which may be gone."""

    def __init__(self, ledger: Ledger, pipeline: str, uploads: Path) -> None:
        """`pipeline` tells which documents are outdated; `uploads` keeps what was uploaded."""
        self._ledger = ledger
        self._pipeline = pipeline
        self.uploads = uploads

    def all(self) -> list[IngestedRoot]:
        """In the order of their paths."""
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

    def named(self, name: str, *paths: str) -> IngestedRoot:
        """The first of these paths that is one; by default the name as it stands.

        Raises:
            RootNotFoundError: No document came from there.
        """
        known = {root.path: root for root in self.all()} if name else {}
        for path in paths or (os.path.normpath(name),):
            if path in known:
                return known[path]
        raise RootNotFoundError(
            f"no document came from {name!r}: `flowxpert roots` and /v1/roots list the known roots"
        )

    def removable(self, name: str, document_id: str) -> IngestedRoot:
        """The root that documents are to be taken from; all of them, or one that was uploaded.

        Raises:
            RootNotFoundError: No document came from there.
            DocumentNotFoundError: The root has none of this id.
            InvalidInputError: The one document was not uploaded: it would come back. So would
                accepted pages.
        """
        root = self.named(name)
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
    """Let documents be taken from it.

    Raises:
        InvalidInputError: They are accepted pages: what is accepted would come back.
    """
    if root.path == ACCEPTED_PAGES:
        raise InvalidInputError(
            "accepted pages are withdrawn, each by itself: `flowxpert proposals withdraw`"
        )
