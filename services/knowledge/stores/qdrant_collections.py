"""Creation, tuning and exchange of collections on a Qdrant server, behind aliases.

What the store searches is an alias; the collection behind it has a number. A new one is filled
beside it and takes the alias over in one step, so that searches never find half a store.
"""

import time
from collections.abc import Iterable, Mapping

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from services.knowledge.ports import StoreUnavailableError
from services.knowledge.settings import QdrantSettings

DENSE = "dense"
WORDS = "words"
DOCUMENT_IDS = "document_ids"

_QUANTILE = 0.99
"""The outermost one percent of numbers is cut off, so that the others keep more of their bits."""
_OVERSAMPLING = 2.0
_INDEXED_WITHIN_S = 1800.0
_POLL_S = 0.5


class QdrantCollections:
    """Factory of collections for vectors of one length, tuned as the settings say."""

    def __init__(
        self, client: QdrantClient, dimensions: int, settings: QdrantSettings, *, is_local: bool
    ) -> None:
        """Set the tuning; local mode has no indexes and nothing to tune."""
        self._client = client
        self._dimensions = dimensions
        self._settings = settings
        self._is_local = is_local

    def open(self, alias: str) -> None:
        """Ensure that there is a collection behind the alias, tuned as the settings say.

        Raises:
            StoreUnavailableError: It holds vectors of another length.
        """
        name = self._collection_behind(alias)
        if name is None:
            name = f"{alias}_1"
            self.create(name)
            self.switch({alias: name})
        self._check_and_tune(name)

    def next_after(self, alias: str) -> str:
        """Return the name of the next collection for this alias."""
        name = self._collection_behind(alias) or f"{alias}_0"
        return f"{alias}_{int(name.rpartition('_')[2]) + 1}"

    def create(self, name: str) -> None:
        """Create an empty collection; one that another process has just made will do."""
        try:
            self._client.create_collection(
                name,
                vectors_config={
                    DENSE: models.VectorParams(
                        size=self._dimensions,
                        distance=models.Distance.DOT,
                        on_disk=self._settings.quantised,
                    )
                },
                sparse_vectors_config={
                    WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
                hnsw_config=self._hnsw(),
                quantization_config=self._quantisation(),
            )
        except ApiException:
            if not self._client.collection_exists(name):
                raise
        if not self._is_local:
            keyword = models.PayloadSchemaType.KEYWORD
            self._client.create_payload_index(name, DOCUMENT_IDS, keyword)

    def drop(self, names: Iterable[str]) -> None:
        """Delete these collections; unknown ones are ignored."""
        for name in names:
            self._client.delete_collection(name)

    def switch(self, names: Mapping[str, str]) -> list[str]:
        """Point the aliases at these collections, all at once.

        Returns those that were behind them until now.
        """
        until_now = [name for alias in names if (name := self._collection_behind(alias))]
        operations: list[models.AliasOperations] = []
        for alias, name in names.items():
            operations += [
                models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)),
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(alias_name=alias, collection_name=name)
                ),
            ]
        self._client.update_collection_aliases(operations)
        return until_now

    def wait_until_indexed(self, names: Iterable[str]) -> None:
        """Return when searches of these collections are as fast as they will get.

        Raises:
            StoreUnavailableError: That took more than half an hour.
        """
        until = time.monotonic() + _INDEXED_WITHIN_S
        for name in names:
            while self._client.get_collection(name).status is models.CollectionStatus.YELLOW:
                if time.monotonic() > until:
                    raise StoreUnavailableError(f"collection {name!r} is still being indexed")
                time.sleep(_POLL_S)

    def search_params(self) -> models.SearchParams | None:
        """Return the search parameters of dense vectors; None in local mode."""
        if self._is_local:
            return None
        rescored = models.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING)
        return models.SearchParams(
            hnsw_ef=self._settings.hnsw_ef,
            quantization=rescored if self._settings.quantised else None,
        )

    def _collection_behind(self, alias: str) -> str | None:
        aliases = self._client.get_aliases().aliases
        return next((each.collection_name for each in aliases if each.alias_name == alias), None)

    def _check_and_tune(self, name: str) -> None:
        config = self._client.get_collection(name).config
        vectors = config.params.vectors
        stored = vectors[DENSE].size if isinstance(vectors, dict) else None
        if stored != self._dimensions:
            raise StoreUnavailableError(
                f"collection {name!r} holds vectors of {stored} numbers and the embedder makes"
                f" {self._dimensions}: choose another prefix or delete it and ingest again"
            )
        if self._is_local:
            return
        hnsw, wanted = config.hnsw_config, self._hnsw()
        is_tuned = (hnsw.m, hnsw.ef_construct) == (wanted.m, wanted.ef_construct)
        is_quantised = config.quantization_config is not None
        if not is_tuned or is_quantised != self._settings.quantised:
            self._client.update_collection(
                name,
                vectors_config={DENSE: models.VectorParamsDiff(on_disk=self._settings.quantised)},
                hnsw_config=wanted,
                quantization_config=self._quantisation() or models.Disabled.DISABLED,
            )

    def _hnsw(self) -> models.HnswConfigDiff:
        return models.HnswConfigDiff(
            m=self._settings.hnsw_m, ef_construct=self._settings.hnsw_ef_construct
        )

    def _quantisation(self) -> models.ScalarQuantization | None:
        if not self._settings.quantised:
            return None
        return models.ScalarQuantization(
            scalar=models.ScalarQuantizationConfig(
                type=models.ScalarType.INT8, quantile=_QUANTILE, always_ram=True
            )
        )
