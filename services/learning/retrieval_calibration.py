"""Calibration of the order of pages for a ticket, and of the chance that the first fits."""

import math
from collections.abc import Sequence

import numpy as np

from services.contracts.retrieval import PageSigns
from services.learning.comparison import ComparisonOutcome, compare_gains
from services.learning.regression import (
    ANY,
    POSITIVE,
    Array,
    ChoiceLesson,
    FittedWeights,
    fit_chance,
    fit_order,
    shares_of,
)
from services.learning.subject import (
    BASE_RATE,
    LIKELIEST,
    AnyLesson,
    WeightedLesson,
    log_chance,
    split_holdout,
)
from services.retrieval.calibration import (
    FEATURES,
    Calibration,
    ConfidenceCurve,
    Ranking,
    SignalWeights,
)
from services.tickets.adoption.lessons import Lesson

_UNSEEN_SHARE = 0.1
"""Share of the rest left to pages that did not come near."""


class RetrievalCalibration:
    """Subject whose numbers are a `Calibration`. Implements `Subject`."""

    numbers = Calibration

    def can_learn_from(self, lesson: AnyLesson) -> bool:
        """See `Subject.can_learn_from`."""
        if not isinstance(lesson, Lesson) or not lesson.pages:
            return False
        return bool(lesson.right) or lesson.pages[0].document_id in lesson.wrong

    def learn(self, shipped: Calibration, lessons: Sequence[WeightedLesson[Lesson]]) -> Calibration:
        """See `Subject.learn`."""
        alerts = [each for each in lessons if each.lesson.is_alert]
        texts = [each for each in lessons if not each.lesson.is_alert]
        return shipped.model_copy(
            update={
                "alerts": _learn_ranking(shipped.alerts, alerts),
                "text": _learn_ranking(shipped.text, texts),
                "provenance": f"learned on site from {len(lessons)} tickets",
                "figures": {},
            }
        )

    def log_likelihood(self, fit: Calibration, lesson: Lesson) -> float | None:
        """See `Subject.log_likelihood`."""
        ranking = fit.of(is_alert=lesson.is_alert)
        ranked = sort_pages(ranking.order, lesson.pages)
        first = ranked[0].document_id
        if not lesson.right and first not in lesson.wrong:
            return None
        chance = ranking.curve.chance(features_of(ranking, ranked))
        likelihood = log_chance(chance, is_so=first == lesson.right)
        if first == lesson.right or not lesson.right:
            return likelihood
        return likelihood + math.log(_share(ranking.order, ranked[1:], lesson.right))


def sort_pages(order: SignalWeights, pages: Sequence[PageSigns]) -> list[PageSigns]:
    """Sort the pages by this order; equal ones by id, as retrieval does."""
    return sorted(pages, key=lambda page: (-order.score(page.signs), page.document_id))


def features_of(ranking: Ranking, ranked: Sequence[PageSigns]) -> dict[str, float]:
    """Return the features of the curve: of the first page and its margin."""
    scores = [ranking.order.score(page.signs) for page in ranked[:2]]
    margin = scores[0] - (scores[1] if len(scores) > 1 else 0.0)
    return dict.fromkeys(FEATURES, 0.0) | ranked[0].signs | {"margin": margin}


def curve_names(curve: ConfidenceCurve) -> tuple[str, ...]:
    """Return the names of the curve's intercept and weights."""
    return ("intercept", *curve.weights)


def table_of(names: Sequence[str], pages: Sequence[PageSigns]) -> Array:
    """Return the features as an array of shape (pages, names)."""
    return np.array([[page.signs.get(name, 0.0) for name in names] for page in pages], np.float64)


def _learn_ranking(shipped: Ranking, lessons: Sequence[WeightedLesson[Lesson]]) -> Ranking:
    if not lessons or not shipped.order.spread.names or not shipped.curve.spread.names:
        return shipped
    ranking = shipped.model_copy(update={"order": _learn_order(shipped.order, lessons)})
    return ranking.model_copy(update={"curve": _learn_curve(ranking, lessons)})


def _learn_order(
    shipped: SignalWeights, lessons: Sequence[WeightedLesson[Lesson]]
) -> SignalWeights:
    """Learn another order only if one from earlier tickets lifts the right pages of later ones."""
    usable = [
        each
        for each in lessons
        if any(page.document_id == each.lesson.right for page in each.lesson.pages)
    ]
    earlier, later = split_holdout(usable)
    if not later:
        return shipped
    made = _fit_order(shipped, earlier)
    gains = [
        (each, _log_share(made, each.lesson) - _log_share(shipped, each.lesson)) for each in later
    ]
    if compare_gains(gains).outcome is not ComparisonOutcome.BETTER:
        return shipped
    return _fit_order(shipped, usable)


def _fit_order(shipped: SignalWeights, lessons: Sequence[WeightedLesson[Lesson]]) -> SignalWeights:
    names = tuple(shipped.weights)
    prior = FittedWeights.of(list(shipped.weights.values()), shipped.spread)
    choices = [
        ChoiceLesson(
            table_of(names, each.lesson.pages),
            [page.document_id for page in each.lesson.pages].index(each.lesson.right),
            each.weight,
        )
        for each in lessons
    ]
    fitted = fit_order(choices, prior, [POSITIVE] * len(names))
    weights = dict(zip(names, fitted.rounded, strict=True))
    return SignalWeights(weights=weights, spread=fitted.spread(names))


def _log_share(order: SignalWeights, lesson: Lesson) -> float:
    """Return the log of the share that falls to the right page."""
    return math.log(max(_shares(order, lesson.pages)[lesson.right], 1 - LIKELIEST))


def _shares(order: SignalWeights, pages: Sequence[PageSigns]) -> dict[str, float]:
    """Return the share that falls to each page, by its document."""
    table = table_of(tuple(order.weights), pages)
    shares = shares_of(table @ np.array(list(order.weights.values())))
    return {page.document_id: float(share) for page, share in zip(pages, shares, strict=True)}


def _learn_curve(ranking: Ranking, lessons: Sequence[WeightedLesson[Lesson]]) -> ConfidenceCurve:
    shipped, rows, truth, weight = ranking.curve, [], [], []
    for each in lessons:
        ranked = sort_pages(ranking.order, each.lesson.pages)
        first = ranked[0].document_id
        if each.lesson.right or first in each.lesson.wrong:
            features = features_of(ranking, ranked)
            rows.append([1.0, *(features.get(name, 0.0) for name in shipped.weights)])
            truth.append(float(first == each.lesson.right))
            weight.append(each.weight)
    if not rows:
        return shipped
    prior = FittedWeights.of([shipped.intercept, *shipped.weights.values()], shipped.spread)
    bounds = [ANY, *[POSITIVE] * len(shipped.weights)]
    fitted = fit_chance(
        np.array(rows), np.array(truth), np.array(weight), prior.with_own_rate(BASE_RATE), bounds
    )
    intercept, *weights = fitted.rounded
    return ConfidenceCurve(
        intercept=intercept,
        weights=dict(zip(shipped.weights, weights, strict=True)),
        spread=fitted.spread(curve_names(shipped)),
    )


def _share(order: SignalWeights, others: Sequence[PageSigns], right: str) -> float:
    """Return the share of the rest that falls to a page behind the first."""
    if not any(page.document_id == right for page in others):
        return _UNSEEN_SHARE
    return _UNSEEN_SHARE + (1 - 2 * _UNSEEN_SHARE) * _shares(order, others)[right]
