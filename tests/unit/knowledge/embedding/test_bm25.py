from services.knowledge.embedding.bm25 import document_vector, query_vector


def dot(left, right):
    weights = dict(zip(right.indices, right.values, strict=True))
    return sum(v * weights.get(i, 0) for i, v in zip(left.indices, left.values, strict=True))


def test_indices_rise_and_none_comes_twice():
    vector = document_vector("fan fan tray failed on switch")
    assert list(vector.indices) == sorted(set(vector.indices))


def test_a_word_repeated_counts_more_but_not_in_proportion():
    query = query_vector("fan")
    once, thrice = (dot(query, document_vector(t)) for t in ("fan a1 b2 c3", "fan fan fan c3"))
    assert once < thrice < 3 * once


def test_the_same_word_counts_more_in_a_short_text():
    query = query_vector("fan")
    filler = " ".join(f"word{i}" for i in range(300))
    assert dot(query, document_vector("fan")) > dot(query, document_vector(f"fan {filler}"))
