"""What later tickets of simulated teams say of numbers that were learned from so many outcomes."""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from evaluation.learning.teams import Team, turned
from evaluation.measures.bootstrap import intervals
from evaluation.measures.figures import Figures
from evaluation.measures.telling_apart import calibration_error
from services.kit.fits.fitted import FittedFile
from services.learning.comparison import LEAST_CASES, ComparisonOutcome, compare
from services.learning.retrieval_calibration import features_of, sort_pages
from services.learning.subject import WeightedLesson, split_holdout, weigh_lessons
from services.retrieval.calibration import Calibration
from services.tickets.adoption.lessons import Lesson

OUTCOMES = (0, 5, 20, 100, 400)
_EARLIER = 0.6
_SPLITS = 12
_TURNED = 0.1
_NEAR = 0.05
"""A challenger is better or worse where it foretells all tickets of the team by as much."""
_CHALLENGERS = 20
_SHADOW = 320
"""Later tickets after which a challenger is given up."""


@dataclass(frozen=True)
class LessonOutcome:
    """The prediction for one later ticket, and whether it was right."""

    chance: float
    is_right: bool
    is_first: bool | None
    """Whether the right page stood first; None where there is none, or no page is looked for."""
    foretold: float


Pairs = list[tuple[LessonOutcome, LessonOutcome]]
"""What learned numbers and shipped ones say, of one kind of tickets."""


def predict(team: Team, fit: FittedFile, lesson: Lesson) -> LessonOutcome:
    """Predict the outcome of a ticket that nothing was learned from."""
    foretold = team.subject.log_likelihood(fit, lesson) or 0.0
    if lesson.workflow is not None:
        is_right = lesson.workflow.is_accepted
        chance = math.exp(foretold) if is_right else 1 - math.exp(foretold)
        return LessonOutcome(chance, is_right, None, foretold)
    ranking = cast(Calibration, fit).of(is_alert=lesson.is_alert)
    ranked = sort_pages(ranking.order, lesson.pages)
    is_right = ranked[0].document_id == lesson.right
    chance = ranking.curve.chance(features_of(ranking, ranked))
    return LessonOutcome(chance, is_right, is_right if lesson.right else None, foretold)


def learned(
    team: Team, seed: int, *, noisy: bool
) -> Iterator[tuple[int, Lesson, LessonOutcome, LessonOutcome]]:
    """Number of outcomes, a later ticket, what is said of it, and what the shipped numbers say."""
    for split in range(_SPLITS):
        rng = random.Random(f"{seed}/{team.name}/{split}")  # noqa: S311
        kinds = sorted({each.kind for each in team.lessons})
        rng.shuffle(kinds)
        first = set(kinds[: int(_EARLIER * len(kinds))])
        earlier = [each for each in team.lessons if each.kind in first]
        later = [each for each in team.lessons if each.kind not in first]
        for outcomes in OUTCOMES:
            drawn = [rng.choice(earlier) for _ in range(outcomes)]
            if noisy:
                drawn = [turned(each) if rng.random() < _TURNED else each for each in drawn]
            fit = _serving(team, weigh_lessons(drawn).lessons)
            for each in later:
                yield outcomes, each, predict(team, fit, each), predict(team, team.shipped, each)


def _serving(team: Team, lessons: Sequence[WeightedLesson[Lesson]]) -> FittedFile:
    """What serves once these have ended: a challenger, where the last third favours it."""
    earlier, later = split_holdout(lessons)
    made = team.subject.learn(team.shipped, earlier)
    comparison = compare(team.subject, made, team.shipped, later)
    return made if comparison.outcome is ComparisonOutcome.BETTER else team.shipped


def figures_of(team: Team, seed: int, *, noisy: bool) -> dict[str, Figures]:
    """By number of outcomes: how later tickets fare, and by how much better than as shipped."""
    by_outcomes: dict[int, dict[str, Pairs]] = defaultdict(lambda: defaultdict(list))
    for outcomes, lesson, new, old in learned(team, seed, noisy=noisy):
        by_outcomes[outcomes][lesson.kind].append((new, old))
    return {
        f"{team.name}, {n}": _figures([*by_kind.values()]) for n, by_kind in by_outcomes.items()
    }


def _figures(kinds: Sequence[Pairs]) -> Figures:
    new = [each for pairs in kinds for each, _ in pairs]
    firsts = [each.is_first for each in new if each.is_first is not None]
    rows = np.array([[np.mean([a.foretold - b.foretold for a, b in p])] for p in kinds])
    (gained,) = intervals([rows], 0)
    figures: Figures = {"n": len(kinds)}
    if firsts:
        figures["R@1"] = float(np.mean(firsts))
        figures |= _gained_first(kinds)
    figures["brier"] = float(np.mean([(each.chance - each.is_right) ** 2 for each in new]))
    figures["ece"] = calibration_error([(each.chance, each.is_right) for each in new])
    figures |= {"gained": gained.mean, "from": gained.low, "to": gained.high}
    return {name: round(value, 4) for name, value in figures.items()}


def _gained_first(kinds: Sequence[Pairs]) -> Figures:
    pairs = [[(a, b) for a, b in kind if a.is_first is not None] for kind in kinds]
    rows = [
        [np.mean([float(bool(a.is_first)) - float(bool(b.is_first)) for a, b in kind])]
        for kind in pairs
        if kind
    ]
    (interval,) = intervals([np.array(rows)], 0)
    return {"R@1 gained": interval.mean, "R@1 from": interval.low, "R@1 to": interval.high}


def judged_challengers(teams: Sequence[Team], seed: int, advance: Callable[[], None]) -> Figures:
    """How many of worse challengers are refused, and of better ones taken, after many looks."""
    counts = {"worse": 0, "refused": 0, "better": 0, "taken": 0, "tickets": 0}
    rng = random.Random(f"{seed}/challengers")  # noqa: S311
    for number in range(50 * _CHALLENGERS):
        if min(counts["worse"], counts["better"]) == _CHALLENGERS:
            break
        team = teams[number % len(teams)]
        champion = spoilt(team, rng) if rng.random() < 0.5 else team.shipped
        challenger = spoilt(team, rng) if champion is team.shipped else _best(team, rng)
        gain = _gain(team, challenger, champion)
        kind = "better" if gain > 0 else "worse"
        if abs(gain) < _NEAR or counts[kind] == _CHALLENGERS:
            continue
        outcome, tickets = _after_looks(team, challenger, champion, rng)
        counts[kind] += 1
        counts["taken"] += kind == "better" and outcome is ComparisonOutcome.BETTER
        counts["refused"] += kind == "worse" and outcome is not ComparisonOutcome.BETTER
        counts["tickets"] += tickets * (kind == "better")
        advance()
    return {name: float(value) for name, value in counts.items()}


def _after_looks(
    team: Team, challenger: FittedFile, champion: FittedFile, rng: random.Random
) -> tuple[ComparisonOutcome, int]:
    """What is decided at the first look that decides, on so many later tickets, some turned."""
    lessons: list[WeightedLesson[Lesson]] = []
    looks = LEAST_CASES
    while looks <= _SHADOW:
        while len(lessons) < looks:
            lesson = replace(rng.choice(team.lessons), kind=str(len(lessons)))
            lessons.append(WeightedLesson(turned(lesson) if rng.random() < _TURNED else lesson))
        outcome = compare(team.subject, challenger, champion, lessons).outcome
        if outcome is not ComparisonOutcome.OPEN:
            return outcome, looks
        looks *= 2
    return ComparisonOutcome.OPEN, looks // 2


def _best(team: Team, rng: random.Random) -> FittedFile:
    """Learned from many outcomes of the team."""
    drawn = [rng.choice(team.lessons) for _ in range(OUTCOMES[-1])]
    return team.subject.learn(team.shipped, weigh_lessons(drawn).lessons)


def _gain(team: Team, challenger: FittedFile, champion: FittedFile) -> float:
    """By how much it foretells all tickets of the team better."""
    foretell = team.subject.log_likelihood
    pairs = [(foretell(challenger, each), foretell(champion, each)) for each in team.lessons]
    return float(np.mean([a - b for a, b in pairs if a is not None and b is not None]))


def spoilt(team: Team, rng: random.Random) -> FittedFile:
    """The shipped numbers as somebody would have them who learned from noise."""
    noise = [turned(rng.choice(team.lessons)) for _ in range(rng.choice((40, 100, 400)))]
    kept = [rng.choice(team.lessons) for _ in range(rng.choice((0, 40, 200)))]
    return team.subject.learn(team.shipped, weigh_lessons([*noise, *kept]).lessons)
