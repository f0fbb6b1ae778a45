"""Ports of the stores. Every adapter of one passes its suite in `tests/contract/`."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from services.kit.errors import NotFoundError, UnavailableError
from services.kit.value import Value
from services.knowledge.model import Case, Document, IncidentNode, ResolvedCase, UsableDocument

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions), rows of unit length."""

Collection = Literal["chunks", "nodes"]


class StoreUnavailableError(UnavailableError):
    """A store did not answer within its timeout, or refused the connection."""


class DocumentNotFoundError(NotFoundError):
    """No document is known under that id."""


class Embedder(Protocol):
    """Texts to vectors of unit length, so that a dot product is the cosine."""

    @property
    def model_name(self) -> str:
        """Names model and version: vectors of different names are never mixed."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Word pieces that count; text beyond them is ignored."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in the order of `texts`; no texts give shape (0, dimensions)."""

    def count_tokens(self, text: str) -> int:
        """Word pieces of `text`, without the two special ones, never cut off."""


class Point(BaseModel):
    """A thing to be found: its vector, the text BM25 sees, and the record that comes back."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    id: str
    """Any string; adapters map it to what their engine accepts."""
    document_ids: tuple[str, ...]
    vector: tuple[float, ...]
    text: str
    payload: dict[str, object]
    """JSON-able; returned unchanged."""


class Hit(Value):
    """A point that was found, with both its scores, whichever of the two searches found it."""

    id: str
    payload: dict[str, object]
    dense_score: float
    """Cosine, -1–1."""
    sparse_score: float
    """BM25, ≥ 0; 0 when it shares no word with the query."""


class VectorStore(Protocol):
    """Points of chunks and of nodes, found by meaning (dense) and by words (BM25).

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
        """The union of the `limit` nearest by cosine and the `limit` best by BM25, unordered.

        An empty store yields an empty list: asking before the first ingestion is normal.

        Raises:
            StoreUnavailableError: The store did not answer within its timeout.
        """

    def count(self, collection: Collection) -> int:
        """Points held."""

    def rebuild(self) -> AbstractContextManager["VectorStore"]:
        """An empty store that takes this one's place when its block ends without an error.

        Until then searches find what they found before. What is written to this store meanwhile is
        lost, so the caller sees that nobody writes, and that no other rebuild goes on. The store in
        the block is not to be closed.
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
        """Take this document's contribution out. Returns ids as `replace_document` does."""

    def get(self, ids: Sequence[str]) -> list[IncidentNode]:
        """Merged nodes in the order of `ids`; unknown ids are left out."""

    def of_documents(self, document_ids: Sequence[str]) -> list[IncidentNode]:
        """Merged nodes these documents contribute to, in the order of the documents."""

    def find_names(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Node ids by name or alias, both compared normalised (case, spacing, punctuation).

        The keys are the given names that are known, as they were given.
        """

    def neighbours(self, node_id: str, *, hops: int = 1) -> list[str]:
        """Ids of nodes reachable over document links within `hops`, nearest first."""

    def search(self, text: str = "", *, start: int = 0, limit: int = 50) -> list[IncidentNode]:
        """Merged nodes one of whose names holds `text`, both normalised, from place `start` on.

        In the order of the first of these names; a text without letters and digits is in every one.
        """

    def count(self) -> int:
        """Merged nodes held."""

    def put_cases(self, cases: Sequence[Case]) -> None:
        """Write or replace past tickets with the entities and the team that they relate to."""

    def cases(self, limit: int) -> list[Case]:
        """The newest past tickets, at most `limit`, oldest first."""

    def cases_state(self) -> str:
        """A word that is another one after every `put_cases` that wrote something."""


class CaseArchive(Protocol):
    """Resolved tickets as typical cases of pages: so many of a page, and none without its page.

    Of cases of a page that say the same the latest is kept.
    """

    def put(self, case: ResolvedCase, vector: Sequence[float], model: str) -> bool:
        """Write or replace, with its embedding by this model.

        False, and nothing written, where its document is unknown.
        """

    def remove(self, ids: Sequence[str]) -> None:
        """Take cases out; unknown ids are ignored."""

    def newest(self, limit: int, model: str) -> tuple[list[ResolvedCase], Vectors]:
        """The newest cases of all pages, and their vectors by this model, a row for each."""

    def state(self) -> str:
        """A word that is another one after every change."""


class SaidTexts(Protocol):
    """What people write who have the fault of a page: found by, never shown and never cited.

    They belong to the page's usable text, go with the last document that has it, and are not found
    while no document has it.
    """

    def put(self, text_hash: str, texts: Sequence[str], vectors: Vectors, model: str) -> bool:
        """Write those of a text in place of what there was, embedded by this model.

        False, and nothing kept, where no document has the text.
        """

    def of_documents(self, model: str) -> tuple[list[str], Vectors]:
        """The document of each text, and their vectors by this model, a row for each."""

    def of_other_models(self, model: str, most: int) -> dict[str, list[str]]:
        """By text hash the texts that another model embedded, of at most so many pages."""

    def state(self) -> str:
        """A word that is another one after every `put`."""


class DocumentStore(Protocol):
    """The documents' text, written by ingestion and read by retrieval."""

    def put(self, document: Document) -> None:
        """Write or replace."""

    def get(self, document_id: str) -> Document | None:
        """None when unknown."""

    def usable(self, document_ids: Sequence[str]) -> dict[str, UsableDocument]:
        """Documents by id, their text without what speaks to a model; unknown ones are left out.

        Lines keep their numbers. A text is screened when it is put, and again by a newer screening.
        """

    def of_text(self, text_hash: str) -> list[UsableDocument]:
        """As `usable`, the documents whose text has this hash then, in the order of their ids."""

    def awaits_renewal(self) -> bool:
        """Whether there are documents that `of_text` does not find before they are renewed."""

    def renew(self) -> int:
        """Screen what an older screening left, or none; how many documents these were."""

    def delete(self, document_id: str) -> None:
        """Remove; unknown ids are ignored."""

    def ids_with(self, parts: Sequence[str]) -> list[str]:
        """The ids that hold one of these, in upper or lower case; at least these, perhaps more."""

    def hashes(self) -> dict[str, str]:
        """`content_hash` by document id, of all documents."""
