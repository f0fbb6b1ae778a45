import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.knowledge.embedding.bm25 import (
    document_vector,
    query_vector,
    rarity,
    split_name,
    tokenise,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("KubeAPIDown", ["kube", "api", "down", "kubeapidown"]),
        ("crash-loop", ["crash", "loop", "crashloop"]),
        ("bgp_peer", ["bgp", "peer", "bgppeer"]),
        ("eth0", ["eth", "0", "eth0"]),
        ("the fans are failing", ["fan", "fail"]),
        ("Überlauf", ["überlauf"]),
        ("x" * 65, []),
        ("", []),
    ],
)
def test_a_text_becomes_stemmed_words_and_compounds_also_their_parts(text, terms):
    assert tokenise(text) == terms


def test_a_name_written_together_is_split_into_words():
    assert split_name("NodeFilesystemSpaceFillingUp") == "Node Filesystem Space Filling Up"


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


def test_threads_stem_alike():
    texts = [f"failing devices number{i} restarting repeatedly" for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenise, texts)) == [tokenise(text) for text in texts]


def test_sums_of_rarities_are_the_same_in_any_order():
    weights = [rarity(found, 5000) for found in range(2000)]
    assert sum(weights) == sum(reversed(weights)) == math.fsum(weights)


def test_what_no_text_holds_says_most_and_what_all_hold_next_to_nothing():
    assert rarity(0, 100) > rarity(1, 100) > rarity(100, 100) > 0
    assert rarity(100, 100) < 0.01
