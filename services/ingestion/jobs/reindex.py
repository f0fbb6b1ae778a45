"""All that is searched, made anew from the documents' stored text, beside what is searched now."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.ingestion.catalogue.ledger import Ledger, LedgerEntry
from services.ingestion.jobs.stores import Prepared, Stores
from services.ingestion.settings import IngestionSettings
from services.ingestion.structure.pipeline import Pipeline

OnReindexed = Callable[[int, int], None]
"""Told how many documents are done, of how many."""


@dataclass(frozen=True)
class Reindex:
    """Fills new vectors and the graph: after a store or the embedding model was changed.

    Nobody else may write meanwhile. One that is killed leaves the vectors as they were; the graph
    has the same nodes before and after, unless the code that finds them was changed.
    """

    ledger: Ledger
    stores: Stores
    pipeline: Pipeline
    settings: IngestionSettings

    def run(self, on_progress: OnReindexed) -> int:
        """Returns the number of documents."""
        known = {id_: each for id_, each in sorted(self.ledger.known().items()) if each.is_whole}
        ids: dict[str, tuple[list[str], list[str]]] = {}
        with self.stores.vectors.rebuild() as fresh:
            filling = replace(self.stores, vectors=fresh)
            for window in self._windows(known):
                self._write(filling, window)
                ids |= {each.document.id: _ids(each) for each in window}
                on_progress(len(ids), len(known))
            # Whoever is killed from here on leaves rows that name both the old and the new.
            self.ledger.hold(ids, beside_old=True)
        self.ledger.hold(ids, beside_old=False)
        return len(ids)

    def _windows(self, known: dict[str, LedgerEntry]) -> Iterator[list[Prepared]]:
        """Documents in the order of their ids, as many as are embedded and written together."""
        window: list[Prepared] = []
        for id_, each in known.items():
            document = self.stores.documents.get(id_)
            if document is None:
                continue
            chunks = tuple(self.pipeline.split(document))
            nodes = tuple(self.pipeline.extract(document))
            window.append(Prepared(document, each.fingerprint, chunks, nodes))
            if sum(len(one.chunks) for one in window) >= self.settings.window_chunks:
                yield window
                window = []
        if window:
            yield window

    def _write(self, stores: Stores, window: Sequence[Prepared]) -> None:
        texts = [chunk.embedded_text for each in window for chunk in each.chunks]
        vectors = stores.embed(texts, batch=self.settings.batch_texts)
        held = self.ledger.held([each.document.id for each in window])
        stores.write(window, vectors, held, batch=self.settings.batch_texts)


def _ids(prepared: Prepared) -> tuple[list[str], list[str]]:
    return list(prepared.version.chunk_ids), list(prepared.version.node_ids)
