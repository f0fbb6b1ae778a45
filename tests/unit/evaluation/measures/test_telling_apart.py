import pytest

from evaluation.measures.telling_apart import (
    Judgement,
    auc,
    calibration_error,
    harm_tau,
    of_acceptable,
    of_pairs,
    unpaired,
)

DIMENSIONS = ("relevance", "coverage", "accuracy", "coherence", "conciseness")


def judgement(value: float, origin: str = "reference", **changes: object) -> Judgement:
    defaults = {
        "row": "fan.md",
        "set": "switches",
        "is_fitted": True,
        "origin": origin,
        "severity": 0.0,
        "draw": 0,
        "harm": 0.0,
        "values": dict.fromkeys((*DIMENSIONS, "overall"), value),
        "chance": None,
        "good_enough": True,
        "acceptable": True,
        "guards": 1.0,
    }
    return Judgement(**defaults | changes)


@pytest.mark.parametrize(
    ("better", "worse", "area"),
    [([3.0], [2.0], 1.0), ([3.0], [3.0], 0.5), ([1.0, 3.0], [2.0], 0.5), ([2.0], [3.0], 0.0)],
)
def test_the_area_counts_ties_half(better, worse, area):
    assert auc(better, worse) == area


def test_without_one_side_there_is_no_area():
    assert auc([], [1.0]) is None
    assert unpaired([judgement(3)], []) == {}
    assert of_pairs([]) == {}


def test_pairs_tell_who_wins_and_by_how_much():
    pairs = [(judgement(4), judgement(3, harm=0.5)), (judgement(4), judgement(4, harm=0.1))]
    figures = of_pairs(pairs)
    assert figures["score"] == figures["coherence"] == 0.75
    assert (figures["n"], figures["margin"], figures["harm"]) == (2, 0.5, 0.3)


def test_unpaired_rows_are_compared_across():
    figures = unpaired([judgement(4), judgement(2)], [judgement(3, "near page")])
    assert figures == {"n": 1, "score": 0.5} | dict.fromkeys(DIMENSIONS, 0.5)


def test_a_chance_that_holds_has_no_error():
    assert calibration_error([(0.5, True), (0.5, False)]) == 0
    assert calibration_error([(1.0, False), (0.0, False)]) == 0.5
    assert calibration_error([]) == 0


def test_what_a_chance_is_worth_is_told_where_there_is_one():
    judgements = [judgement(4, chance=0.9), judgement(3, chance=0.1, acceptable=False)]
    figures = of_acceptable(judgements)
    assert (figures["acceptable"], figures["score_auc"], figures["chance_auc"]) == (0.5, 1, 1)
    assert figures["ece"] == pytest.approx(0.1)
    assert "ece" not in of_acceptable([judgement(4)])
    assert of_acceptable([]) == {"n": 0}


def test_a_record_holds_every_value():
    record = judgement(3.25).record()
    assert record["overall"] == record["relevance"] == 3.25
    assert "values" not in record


def test_scores_that_fall_with_the_harm_agree_with_it():
    falling = [judgement(4), judgement(3, harm=0.2), judgement(2, harm=0.5)]
    rising = [judgement(2, row="bgp.md"), judgement(3, row="bgp.md", harm=0.5)]
    assert harm_tau(falling) == 1
    assert harm_tau([*falling, *rising]) == 0
    assert harm_tau([judgement(3), judgement(3, harm=0.5)]) == 0
    assert harm_tau([judgement(4)]) is None
