import numpy as np

from services.grounding.grounder import RecentVectors
from services.knowledge.embedding.embedders import HashingEmbedder


def test_texts_used_last_stay_and_older_ones_are_forgotten():
    vectors = RecentVectors(HashingEmbedder(), 2)
    vectors.of(["one", "two"])
    vectors.of(["one", "three"])
    assert set(vectors._recent._entries) == {"one", "three"}


def test_a_vector_is_the_embedders():
    embedder = HashingEmbedder()
    assert np.allclose(RecentVectors(embedder, 5).of(["fan"])["fan"], embedder.embed(["fan"])[0])
