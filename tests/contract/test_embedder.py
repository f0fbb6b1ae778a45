"""Every adapter of `Embedder` passes this suite."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from services.knowledge.embedders import (
    CachedEmbedder,
    HashingEmbedder,
    SentenceTransformerEmbedder,
)

MINILM = SentenceTransformerEmbedder()


@pytest.fixture(params=["hashing", "cached", "minilm"])
def embedder(request, tmp_path):
    if request.param == "hashing":
        return HashingEmbedder()
    if request.param == "cached":
        return CachedEmbedder(HashingEmbedder(), tmp_path / "vectors.sqlite")
    return MINILM


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_rows_are_of_unit_length_and_in_the_order_of_the_texts(embedder):
    texts = ["fan tray failed", "", "bgp session down after a very long maintenance " * 40]
    vectors = embedder.embed(texts)
    assert vectors.shape == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)
    for text, vector in zip(texts, vectors, strict=True):
        assert embedder.embed([text])[0] == pytest.approx(vector, abs=1e-4)


def test_texts_alike_are_nearer_than_others(embedder):
    fan, same, other = embedder.embed(["fan failed", "the fan has failed", "bgp neighbour lost"])
    assert fan @ same > fan @ other


def test_tokens_are_counted_without_a_limit(embedder):
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("fan " * 5000) >= 5000


def test_several_threads_get_the_same_vectors(embedder):
    texts = [f"port {i} flaps" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: embedder.embed([text])[0], texts))
    assert np.stack(rows) == pytest.approx(embedder.embed(texts), abs=1e-4)
