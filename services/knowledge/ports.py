"""Ports of the stores. Every adapter of one passes its suite in `tests/contract/`."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from services.kit.errors import NotFoundError, UnavailableError
from services.kit.value import Value
from services.knowledge.model import Case, IncidentNode, ResolvedCase
from services.knowledge.screening.document import ScreenedDocument

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions), rows of unit length."""

Collection = Literal["chunks", "nodes"]


class StoreUnavailableError(UnavailableError):
    """A store did not answer within its timeout, or refused the connection."""


class DocumentNotFoundError(NotFoundError):
    """No document has this id."""


class Embedder(Protocol):
    """Embedder of texts as vectors of unit length, so that a dot product is the cosine."""

    @property
    def model_name(self) -> str:
        """Name of model and version: vectors of different names are never mixed."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Limit in word pieces; text beyond it is ignored."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed `texts`, one row each in their order; no texts give shape (0, dimensions)."""

    def count_tokens(self, text: str) -> int:
        """Count the word pieces of `text`, without the two special ones, never cut off."""


class Point(BaseModel):
    """A searchable record: its vector, the text for BM25, and the payload that is returned."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    id: str
    """Any string; adapters map it to what their engine accepts."""
    document_ids: tuple[str, ...]
    vector: tuple[float, ...]
    text: str
    payload: dict[str, object]
    """JSON-compatible data, returned unchanged."""


class Hit(Value):
    """A matching point with both scores, whichever of the two searches matched it."""

    id: str
    payload: dict[str, object]
    dense_score: float
    """Cosine, -1–1."""
    sparse_score: float
    """BM25, ≥ 0; 0 if it shares no word with the query."""


class VectorStore(Protocol):
    """Store of chunk and node points, searched by meaning (dense) and by words (BM25).

    Writing a point under a known id replaces it, so ingestion may be repeated.
    """

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """Write all points, or none when the store is unavailable."""

    def delete(self, collection: Collection, ids: Sequence[str]) -> None:
        """Remove by id; unknown ids are ignored."""

    def delete_document(self, collection: Collection, document_id: str) -> None:
        """Remove every point that names this document and no other."""

    def search(
        self, collection: Collection, *, vector: Sequence[float], text: str, limit: int
    ) -> list[Hit]:
        """Return the `limit` nearest by cosine and the `limit` best by BM25, merged, unordered.

        An empty store yields an empty list: asking before the first ingestion is normal.

        Raises:
            StoreUnavailableError: The store did not answer within its timeout.
        """

    def count(self, collection: Collection) -> int:
        """Count the stored points."""

    def rebuild(self) -> AbstractContextManager["VectorStore"]:
        """Open an empty store that replaces this one when its block ends without an error.

        Until then searches return what they returned before. Writes to this store meanwhile are
        lost, so the caller must ensure that nothing writes and that no other rebuild runs. Do not
        close the store in the block.
        """

    def close(self) -> None:
        """Flush to disk and release files and sockets."""


class GraphStore(Protocol):
    """Incident nodes and their relations, kept per document so that a document can be replaced."""

    def replace_document(self, document_id: str, nodes: Sequence[IncidentNode]) -> set[str]:
        """Make `nodes` this document's whole contribution.

        Returns the ids of all nodes whose merged form changed, those that vanished included.
        """

    def delete_document(self, document_id: str) -> set[str]:
        """Remove this document's contribution. Returns ids as `replace_document` does."""

    def get(self, ids: Sequence[str]) -> list[IncidentNode]:
        """Return merged nodes in the order of `ids`; unknown ids are left out."""

    def of_documents(self, document_ids: Sequence[str]) -> list[IncidentNode]:
        """Return merged nodes these documents contribute to, in the order of the documents."""

    def find_names(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return node ids by name or alias, compared normalised (case, spacing, punctuation).

        The keys are the requested names that exist, as written in the request.
        """

    def neighbours(self, node_id: str, *, hops: int = 1) -> list[str]:
        """Return ids of nodes reachable over document links within `hops`, nearest first."""

    def search(self, text: str = "", *, start: int = 0, limit: int = 50) -> list[IncidentNode]:
        """Return merged nodes with a name that contains `text`, both normalised, from `start` on.

        Ordered by the first matching name; a text without letters and digits matches every name.
        """

    def count(self) -> int:
        """Count the merged nodes."""

    def put_cases(self, cases: Sequence[Case]) -> None:
        """Write or replace past tickets with their entities and teams."""

    def remove_cases(self, ids: Sequence[str]) -> None:
        """Remove past tickets with what they alone mention; unknown ids are ignored."""

    def cases(self, limit: int) -> list[Case]:
        """Return the newest past tickets, at most `limit`, oldest first."""

    def cases_state(self) -> str:
        """Return a token that changes with every change of the past tickets."""


class CaseArchive(Protocol):
    """Store of resolved tickets as typical cases of pages: a limited number per page.

    Cases go with their page. Of cases of a page with the same text only the latest is kept.
    """

    def put(self, case: ResolvedCase, vector: Sequence[float], model: str) -> bool:
        """Write or replace a case, with its embedding by this model.

        Returns False, without writing, if its document is unknown.
        """

    def remove(self, ids: Sequence[str]) -> None:
        """Remove cases; unknown ids are ignored."""

    def newest(self, limit: int, model: str) -> tuple[list[ResolvedCase], Vectors]:
        """Return the newest cases of all pages, and their vectors by this model, a row for each."""

    def state(self) -> str:
        """Return a token that changes with every change."""


class SymptomTexts(Protocol):
    """Store of texts as people with the fault of a page write them: searched, never shown or cited.

    They belong to the page's usable text, are deleted with the last document that has it, and match
    nothing while no document has it.
    """

    def put(self, text_hash: str, texts: Sequence[str], vectors: Vectors, model: str) -> bool:
        """Replace the texts of a page's text, with their embeddings by this model.

        Returns False, and keeps nothing, if no document has the text.
        """

    def of_documents(self, model: str) -> tuple[list[str], Vectors]:
        """Return the document of each text, and their vectors by this model, a row for each."""

    def of_other_models(self, model: str, most: int) -> dict[str, list[str]]:
        """Return, by text hash, the texts embedded by another model, of at most `most` pages."""

    def state(self) -> str:
        """Return a token that changes with every `put`."""


class DocumentStore(Protocol):
    """Store of the documents' texts, written by ingestion and read by retrieval."""

    def put(self, document: ScreenedDocument) -> None:
        """Write or replace."""

    def get(self, document_id: str) -> ScreenedDocument | None:
        """Return the document; None if unknown."""

    def get_many(self, document_ids: Sequence[str]) -> dict[str, ScreenedDocument]:
        """Return documents by id; unknown ids are left out.

        A text is screened when it is stored, and again by a newer screening.
        """

    def of_text(self, text_hash: str) -> list[ScreenedDocument]:
        """Return the documents whose text for models has this hash, ordered by id."""

    def renew(self) -> int:
        """Screen documents of an older or no screening again, and return their number."""

    def delete(self, document_id: str) -> None:
        """Remove the document; unknown ids are ignored."""

    def ids_with(self, parts: Sequence[str]) -> list[str]:
        """Return the ids that contain one of these, ignoring case; possibly more."""

    def ids_ending(self, end: str, *, most: int) -> list[str]:
        """Return the first ids that end so, in their order."""

    def hashes(self) -> dict[str, str]:
        """Return `content_hash` by document id, of all documents."""
