"""The chance that the best hit treats this very fault."""

import pytest

from services.retrieval.calibration import (
    Calibration,
    ConfidenceCurve,
    Signals,
    confidence,
    features,
)
from services.retrieval.fusion import DocumentEvidence

CALIBRATION = Calibration.shipped()


def evidence(score, **signals):
    return DocumentEvidence("fan.md", (), (), Signals(**signals), score, ())


STRONG = {"meaning": 0.8, "coverage": 0.9, "runs": 0.7, "line_titled": 0.9}


def test_nothing_found_has_no_chance():
    assert confidence([], CALIBRATION.alerts.curve) == confidence([], CALIBRATION.text.curve) == 0


@pytest.mark.parametrize("is_alert", [True, False])
def test_more_of_every_signal_gives_a_higher_chance(is_alert):
    curve = CALIBRATION.of(is_alert=is_alert).curve
    weak = confidence([evidence(0.1, meaning=0.2)], curve)
    strong = confidence([evidence(0.8, **STRONG)], curve)
    assert 0 < weak < 0.5 < strong < 1


def test_the_margin_is_the_distance_to_the_next_document():
    by_name = features([evidence(0.8), evidence(0.5)])
    assert by_name["margin"] == pytest.approx(0.3)


def test_a_curve_is_logistic():
    assert ConfidenceCurve(intercept=0.0, weights={"runs": 2.0}).chance({"runs": 0.0}) == 0.5


def test_what_is_in_use_was_fitted_and_judged_on_other_ids():
    assert "fitted on ids whose sha256 is even" in CALIBRATION.provenance
    assert CALIBRATION.figures["text, unfitted"]["auc"] > 0.5
