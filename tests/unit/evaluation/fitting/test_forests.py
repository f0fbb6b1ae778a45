import random

import numpy as np

from evaluation.fitting.chance import Sample, fit_chance
from evaluation.fitting.forests import fitted_forest
from services.contracts.scorer import DIMENSIONS
from services.scorer.chance import BY_RULES, CHECKED


def test_a_forest_says_what_the_library_that_fitted_it_says():
    rng = random.Random(0)
    rows = [{"near": rng.random(), "asks": float(rng.random() > 0.5)} for _ in range(400)]
    examples = [(signs, signs["near"] + signs["asks"] > 1) for signs in rows]
    examples += [({"near": signs["near"]}, signs["near"] > 0.5) for signs in rows]
    model, forest = fitted_forest(examples)
    table = np.array([[signs.get(name, np.nan) for name in forest.signs] for signs, _ in examples])
    expected = model.predict_proba(table)[:, 1]
    own = [forest.chance(signs) for signs, _ in examples]
    assert np.allclose(expected, own, atol=1e-3)
    assert (
        np.mean([(chance > 0.5) == truth for chance, (_, truth) in zip(own, examples, strict=True)])
        > 0.95
    )


def test_the_chance_learns_what_tells_and_turns_nothing_round():
    rng = random.Random(1)
    samples = []
    for number in range(300):
        good = number % 2 == 0
        signs = {name: rng.gauss(0, 1) for name in DIMENSIONS}
        signs |= {"coherence": rng.gauss(2 if good else -2, 1), BY_RULES: 0.0, CHECKED: 0.0}
        signs["accuracy"] = -signs["coherence"]
        samples.append(Sample("set", number % 3 > 0, signs, good))
    chance = fit_chance(samples, "a test")
    assert chance.weights["coherence"] > 0.5
    assert chance.weights["accuracy"] == 0
    assert chance.figures["odd, auc"] > 0.95
    assert chance.figures["odd, ece"] < 0.1


def test_a_forest_walks_many_rows_as_it_walks_one():
    rng = random.Random(2)
    rows = [{"near": rng.random(), "far": rng.random()} for _ in range(1500)]
    examples = [(signs, signs["near"] > signs["far"]) for signs in rows]
    _, forest = fitted_forest(examples, names=("near", "far"), leaves=12)
    together = forest.chances([(signs["near"], signs["far"]) for signs in rows])
    assert forest.signs == ["near", "far"]
    assert np.allclose(together, [forest.chance(signs) for signs in rows])
    assert forest.chances([]) == []
