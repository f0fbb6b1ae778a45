from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from services.knowledge.embedding.embedders import CachedEmbedder, HashingEmbedder


class CountingEmbedder(HashingEmbedder):
    def __init__(self, model_name="counting"):
        super().__init__(16)
        self.model_name = model_name
        self.embedded = []

    def embed(self, texts):
        self.embedded.extend(texts)
        return super().embed(texts)


def test_a_text_is_embedded_once_over_calls_and_restarts(tmp_path):
    inner = CountingEmbedder()
    first = CachedEmbedder(inner, tmp_path / "v.sqlite").embed(["a", "b", "a"])
    again = CachedEmbedder(inner, tmp_path / "v.sqlite").embed(["b", "a", "c"])
    assert sorted(inner.embedded) == ["a", "b", "c"]
    assert again[0] == pytest.approx(first[1])


def test_vectors_of_different_models_are_never_mixed(tmp_path):
    other = CountingEmbedder("other")
    CachedEmbedder(CountingEmbedder(), tmp_path / "v.sqlite").embed(["a"])
    CachedEmbedder(other, tmp_path / "v.sqlite").embed(["a"])
    assert other.embedded == ["a"]


def test_the_number_of_unknown_texts_is_told_before(tmp_path):
    cached = CachedEmbedder(CountingEmbedder(), tmp_path / "v.sqlite")
    cached.embed(["a"])
    assert cached.count_missing(["a", "b", "b"]) == 1


def test_more_texts_than_one_statement_takes_are_remembered(tmp_path):
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, tmp_path / "v.sqlite")
    texts = [f"text {i}" for i in range(1500)]
    assert np.array_equal(cached.embed(texts), cached.embed(texts))
    assert len(inner.embedded) == 1500


def test_two_caches_on_one_file_may_write_at_once(tmp_path):
    caches = [CachedEmbedder(CountingEmbedder(), tmp_path / "v.sqlite") for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: caches[i % 4].embed([f"text {i}"]), range(80)))
    assert caches[0].count_missing(f"text {i}" for i in range(80)) == 0
