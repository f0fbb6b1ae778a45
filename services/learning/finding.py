"""In which order pages stand for a ticket, and how likely the first treats it."""

import math
from collections.abc import Sequence

import numpy as np

from services.contracts.retrieval import PageSigns
from services.gateway.adoption.lessons import Lesson
from services.learning.judging import Outcome, compare_gains
from services.learning.numbers import (
    ANY,
    POSITIVE,
    Array,
    Choice,
    Weights,
    fit_chance,
    fit_order,
    shares_of,
)
from services.learning.subject import (
    BASE_RATE,
    LIKELIEST,
    AnyLesson,
    Weighed,
    log_chance,
    parted,
)
from services.retrieval.calibration import FEATURES, Calibration, Curve, Order, Ranking

_NOT_AMONG = 0.1
"""Share of what is left to pages that did not come near."""


class Finding:
    """Learns `Calibration`. Implements `Subject`."""

    numbers = Calibration

    def teaches(self, lesson: AnyLesson) -> bool:
        """See `Subject.teaches`."""
        if not isinstance(lesson, Lesson) or not lesson.pages:
            return False
        return bool(lesson.right) or lesson.pages[0].document_id in lesson.wrong

    def learn(self, shipped: Calibration, lessons: Sequence[Weighed[Lesson]]) -> Calibration:
        """See `Subject.learn`."""
        alerts = [each for each in lessons if each.lesson.is_alert]
        texts = [each for each in lessons if not each.lesson.is_alert]
        return shipped.model_copy(
            update={
                "alerts": _learned(shipped.alerts, alerts),
                "text": _learned(shipped.text, texts),
                "provenance": f"learned on site from {len(lessons)} tickets",
                "figures": {},
            }
        )

    def foretold(self, fit: Calibration, lesson: Lesson) -> float | None:
        """See `Subject.foretold`."""
        ranking = fit.of(is_alert=lesson.is_alert)
        ranked = sorted_by(ranking.order, lesson.pages)
        first = ranked[0].document_id
        if not lesson.right and first not in lesson.wrong:
            return None
        chance = ranking.curve.chance(features_of(ranking, ranked))
        told = log_chance(chance, is_so=first == lesson.right)
        if first == lesson.right or not lesson.right:
            return told
        return told + math.log(_share(ranking.order, ranked[1:], lesson.right))


def sorted_by(order: Order, pages: Sequence[PageSigns]) -> list[PageSigns]:
    """The pages as this order has them; equal ones by id, as retrieval has them."""
    return sorted(pages, key=lambda page: (-order.score(page.signs), page.document_id))


def features_of(ranking: Ranking, ranked: Sequence[PageSigns]) -> dict[str, float]:
    """What the curve reads, of the first page and its distance."""
    scores = [ranking.order.score(page.signs) for page in ranked[:2]]
    margin = scores[0] - (scores[1] if len(scores) > 1 else 0.0)
    return dict.fromkeys(FEATURES, 0.0) | ranked[0].signs | {"margin": margin}


def order_names(order: Order) -> tuple[str, ...]:
    """Of its weights."""
    return tuple(order.weights)


def curve_names(curve: Curve) -> tuple[str, ...]:
    """Of its intercept and weights."""
    return ("intercept", *curve.weights)


def table_of(names: Sequence[str], pages: Sequence[PageSigns]) -> Array:
    """Shape (pages, names)."""
    return np.array([[page.signs.get(name, 0.0) for name in names] for page in pages], np.float64)


def order_of(order: Order, found: Weights) -> Order:
    """The same with these numbers."""
    names = order_names(order)
    weights = dict(zip(names, found.rounded, strict=True))
    return Order(weights=weights, spread=found.spread(names))


def curve_of(curve: Curve, found: Weights) -> Curve:
    """The same with these numbers."""
    intercept, *weights = found.rounded
    return Curve(
        intercept=intercept,
        weights=dict(zip(curve.weights, weights, strict=True)),
        spread=found.spread(curve_names(curve)),
    )


def _learned(shipped: Ranking, lessons: Sequence[Weighed[Lesson]]) -> Ranking:
    if not lessons or not shipped.order.spread.names or not shipped.curve.spread.names:
        return shipped
    ranking = shipped.model_copy(update={"order": _ordered(shipped.order, lessons)})
    return ranking.model_copy(update={"curve": _curved(ranking, lessons)})


def _ordered(shipped: Order, lessons: Sequence[Weighed[Lesson]]) -> Order:
    """Another order only where one made of earlier tickets lifts the right pages of later ones."""
    told = [each for each in lessons if each.lesson.right in _ids(each.lesson.pages)]
    earlier, later = parted(told)
    if not later:
        return shipped
    made = _fitted_order(shipped, earlier)
    gains = [(each, _lifted(made, each.lesson) - _lifted(shipped, each.lesson)) for each in later]
    if compare_gains(gains).outcome is not Outcome.BETTER:
        return shipped
    return _fitted_order(shipped, told)


def _fitted_order(shipped: Order, lessons: Sequence[Weighed[Lesson]]) -> Order:
    names = order_names(shipped)
    prior = Weights.of(list(shipped.weights.values()), shipped.spread)
    choices = [
        Choice(table_of(names, each.lesson.pages), _place(each.lesson), each.weight)
        for each in lessons
    ]
    return order_of(shipped, fit_order(choices, prior, [POSITIVE] * len(names)))


def _lifted(order: Order, lesson: Lesson) -> float:
    """Log of the share that falls to the right page."""
    table = table_of(order_names(order), lesson.pages)
    shares = shares_of(table @ np.array(list(order.weights.values())))
    return math.log(max(float(shares[_place(lesson)]), 1 - LIKELIEST))


def _ids(pages: Sequence[PageSigns]) -> list[str]:
    return [page.document_id for page in pages]


def _place(lesson: Lesson) -> int:
    return _ids(lesson.pages).index(lesson.right)


def _curved(ranking: Ranking, lessons: Sequence[Weighed[Lesson]]) -> Curve:
    shipped, rows, truth, weight = ranking.curve, [], [], []
    for each in lessons:
        ranked = sorted_by(ranking.order, each.lesson.pages)
        first = ranked[0].document_id
        if each.lesson.right or first in each.lesson.wrong:
            told = features_of(ranking, ranked)
            rows.append([1.0, *(told.get(name, 0.0) for name in shipped.weights)])
            truth.append(float(first == each.lesson.right))
            weight.append(each.weight)
    if not rows:
        return shipped
    prior = Weights.of([shipped.intercept, *shipped.weights.values()], shipped.spread)
    bounds = [ANY, *[POSITIVE] * len(shipped.weights)]
    found = fit_chance(
        np.array(rows), np.array(truth), np.array(weight), prior.with_own_rate(BASE_RATE), bounds
    )
    return curve_of(shipped, found)


def _share(order: Order, others: Sequence[PageSigns], right: str) -> float:
    """Of what is left, what falls to a page behind the first."""
    ids = _ids(others)
    if right not in ids:
        return _NOT_AMONG
    names = order_names(order)
    shares = shares_of(table_of(names, others) @ np.array(list(order.weights.values())))
    return _NOT_AMONG + (1 - 2 * _NOT_AMONG) * float(shares[ids.index(right)])
