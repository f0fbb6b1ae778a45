"""Curves and thresholds are fitted on one half of the cases and judged on the other."""

import random

from evaluation.benches.retrieval.calibration import FEATURES, SURELY_WRONG, Case, calibrate


def cases():
    drawn = random.Random(7)
    for number in range(800):
        has_page = number % 2 == 0
        values = tuple(
            min(1.0, max(0.0, drawn.gauss(0.6 if has_page else 0.4, 0.15))) for _ in FEATURES
        )
        yield Case(number % 4 < 2, has_page, number % 3 == 0, values)


def test_what_tells_known_from_unknown_is_learned_for_both_forms():
    fit = calibrate(list(cases()), "test")
    for form in ("alerts", "text"):
        figures = fit.calibration.figures[f"{form}, unfitted"]
        assert figures["auc"] > 0.9
        assert figures["known_sure"] > figures["unknown_sure"]
        assert figures["known_shown"] >= figures["known_sure"]


def test_few_unknown_tickets_are_sure_where_it_was_fitted():
    fit = calibrate(list(cases()), "test")
    assert fit.thresholds.figures["text, fitted"]["unknown_sure"] <= SURELY_WRONG
    assert fit.thresholds.figures["text, fitted"]["known_shown"] >= 0.95
    assert fit.thresholds.unsure_from <= fit.thresholds.sure_from


def test_no_weight_is_under_0():
    calibration = calibrate(list(cases()), "test").calibration
    curves = (calibration.alerts.curve, calibration.text.curve)
    assert min(weight for curve in curves for weight in curve.weights.values()) > 0
