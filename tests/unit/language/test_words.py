import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.language.words import rarity, tokenise


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


def test_threads_stem_alike():
    texts = [f"failing devices number{i} restarting repeatedly" for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenise, texts)) == [tokenise(text) for text in texts]


def test_sums_of_rarities_are_the_same_in_any_order():
    weights = [rarity(count, 5000) for count in range(2000)]
    assert sum(weights) == sum(reversed(weights)) == math.fsum(weights)


def test_what_no_text_holds_says_most_and_what_all_hold_next_to_nothing():
    assert rarity(0, 100) > rarity(1, 100) > rarity(100, 100) > 0
    assert rarity(100, 100) < 0.01
