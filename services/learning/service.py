"""Learning on site: a challenger is made of earlier tickets and serves once later ones favour it.

Of boxes it is made of earlier corrections by owners in the place of tickets.

Every challenger starts from what is shipped, never from the fit before it, so that a lesson which
is gone is in no later one; a fit that rests on such a lesson is made anew at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from services.kit.errors import NotFoundError
from services.kit.fits.fitted import FittedFile, UnusableFitError
from services.kit.fits.in_use import Fits, FitState, StoredFit
from services.kit.sql.database import Database
from services.learning.acceptance_calibration import AcceptanceCalibration
from services.learning.box_calibration import BoxCalibration
from services.learning.box_lessons import BoxLessons
from services.learning.comparison import (
    LEAST_CASES,
    ComparisonOutcome,
    compare,
    is_better_without_each,
)
from services.learning.retrieval_calibration import RetrievalCalibration
from services.learning.subject import (
    AnyLesson,
    LessonSample,
    Subject,
    WeightedLesson,
    split_holdout,
    weigh_lessons,
)
from services.tickets.adoption.lessons import Lessons

SUBJECTS: tuple[Subject, ...] = (RetrievalCalibration(), AcceptanceCalibration(), BoxCalibration())
"""Subjects that are learned; a further one is a line here."""

_LEAST_LEARNED = 5
_GROWN = 1.25
"""Factor by which the tickets must grow before a new challenger is made."""
_OVERTAKEN = 2
"""Ratio of later to learned tickets at which an undecided challenger is dropped."""


class UnknownSubjectError(NotFoundError):
    """No subject of learning has this name."""


@dataclass(frozen=True)
class LearningProgress:
    """Progress of learning one subject."""

    name: str
    lessons: int
    """Number of tickets that ended, or of corrections of boxes."""
    left_out: int
    """Number of lessons of people who say the same of everything, or whose word does not count."""
    happened: str
    """Account in words of what the last run did."""
    serving: StoredFit | None
    shadow: StoredFit | None

    def as_json(self) -> dict[str, object]:
        """Return counts, figures and times for programs."""
        return {
            "name": self.name,
            "lessons": self.lessons,
            "left_out": self.left_out,
            "happened": self.happened,
            "serving": _of(self.serving),
            "tried": _of(self.shadow),
        }


class SiteLearning:
    """Learning from the tickets and pages of a platform."""

    def __init__(self, fits: Fits, lessons: Callable[[], Sequence[AnyLesson]]) -> None:
        self._fits = fits
        self._lessons = lessons

    @classmethod
    def of(cls, database: Database) -> Self:
        """Build from the platform's tickets and pages into its fits."""
        tickets, words = Lessons(database), BoxLessons(database)
        return cls(Fits(database), lambda: [*tickets.all(), *words.all()])

    def run(self) -> list[LearningProgress]:
        """Judge the challengers, and make new ones from later tickets; again changes nothing."""
        lessons = self._lessons()
        return [self._learn(subject, lessons) for subject in SUBJECTS]

    def progress(self) -> list[LearningProgress]:
        """Return the progress of all subjects without learning."""
        lessons = self._lessons()
        return [self._progress(subject, _weigh(subject, lessons), "") for subject in SUBJECTS]

    def promote(self, name: str) -> None:
        """Let the challenger serve now, whatever later tickets say; raises `NoSuchFitError`."""
        self._fits.promote(_subject(name).numbers.NAME, {"taken": "by hand"})

    def rollback(self, name: str) -> FitState | None:
        """See `Fits.rollback`."""
        return self._fits.rollback(_subject(name).numbers.NAME)

    def _learn(self, subject: Subject, lessons: Sequence[AnyLesson]) -> LearningProgress:
        sample = _weigh(subject, lessons)
        weighted = sample.lessons
        happened = self._forget(subject, weighted) or self._judge(subject, weighted)
        if self._fits.in_state(subject.numbers.NAME, FitState.SHADOW) is None:
            happened = "; ".join(
                each for each in (happened, self._start_shadow(subject, weighted)) if each
            )
        return self._progress(subject, sample, happened)

    def _progress(
        self, subject: Subject, sample: LessonSample[Any], happened: str
    ) -> LearningProgress:
        name = subject.numbers.NAME
        return LearningProgress(
            name=name,
            lessons=len(sample.lessons),
            left_out=sample.left_out,
            happened=happened,
            serving=self._fits.in_state(name, FitState.SERVING),
            shadow=self._fits.in_state(name, FitState.SHADOW),
        )

    def _forget(self, subject: Subject, weighted: Sequence[WeightedLesson[Any]]) -> str:
        """Remake a fit that rests on tickets that are gone; return what was done, in words."""
        name, here = subject.numbers.NAME, {each.lesson.source_id for each in weighted}
        stale = [fit for fit in self._fits.history(name) if not _sources(fit) <= here]
        if stale:
            self._fits.drop(name, [fit.id for fit in stale])
        serving = next((fit for fit in stale if fit.state is FitState.SERVING), None)
        if serving is None:
            return ""
        left = [each for each in weighted if each.lesson.source_id in _sources(serving)]
        gone = len(_sources(serving) - here)
        if len(left) < _LEAST_LEARNED:
            return f"{gone} of what it was learned from are gone: as shipped again"
        made = subject.learn(subject.numbers.shipped(), left)
        self._fits.put(name, made, _basis(left))
        return f"made anew without {gone} that are gone"

    def _judge(self, subject: Subject, weighted: Sequence[WeightedLesson[Any]]) -> str:
        """Promote or refuse the challenger by the tickets after those it was made of."""
        name = subject.numbers.NAME
        shadow = self._fits.in_state(name, FitState.SHADOW)
        if shadow is None:
            return ""
        later = [each for each in weighted if each.lesson.at > shadow.basis["until"]]
        if len(later) < shadow.basis["look_at"]:
            return f"tried: {len(later)} later ones, {shadow.basis['look_at']} are awaited"
        try:
            challenger = subject.numbers.of_text(shadow.body, f"fit {name}")
        except UnusableFitError:
            self._fits.reject_shadow(name, {"refused": "of another version"})
            return "what was tried is of another version: tried anew"
        comparison = compare(subject, challenger, self._serving(subject), later)
        mean, low, high = comparison.mean, comparison.low, comparison.high
        figures = {
            "cases": comparison.cases,
            "better_by": round(mean, 4),
            "low": round(low, 4),
            "high": round(high, 4),
        }
        account = (
            f"on {comparison.cases} later ones it foretold better by {mean:+.3f}"
            f" ({low:+.3f} to {high:+.3f}) than what serves"
        )
        is_better = comparison.outcome is ComparisonOutcome.BETTER
        if is_better and not is_better_without_each(
            subject, challenger, self._serving(subject), later
        ):
            account += "; but one person taught most of it, and others have yet to agree"
        elif is_better:
            self._fits.promote(name, figures)
            return f"taken: {account}"
        is_overtaken = len(later) >= _OVERTAKEN * shadow.basis["learned"]
        if comparison.outcome is ComparisonOutcome.WORSE or is_overtaken:
            self._fits.reject_shadow(name, figures)
            return f"not taken: {account}"
        self._fits.update_shadow(name, {**figures, "look_at": 2 * len(later)})
        return f"tried: {account}"

    def _start_shadow(self, subject: Subject, weighted: Sequence[WeightedLesson[Any]]) -> str:
        """Make a challenger in shadow, and judge it by the tickets that were held back."""
        name = subject.numbers.NAME
        earlier, _ = split_holdout(weighted)
        before = next(iter(self._fits.history(name)), None)
        least = _GROWN * before.basis.get("learned", 0) if before else _LEAST_LEARNED
        if len(earlier) < max(least, _LEAST_LEARNED):
            return "" if before else f"{len(weighted)} are too few to learn from"
        made = subject.learn(subject.numbers.shipped(), earlier)
        self._fits.start_shadow(name, made, _basis(earlier))
        return self._judge(subject, weighted)

    def _serving(self, subject: Subject) -> FittedFile:
        stored = self._fits.in_state(subject.numbers.NAME, FitState.SERVING)
        if stored is None:
            return subject.numbers.shipped()
        try:
            return subject.numbers.of_text(stored.body, f"fit {stored.name}")
        except UnusableFitError:  # of another version, which processes do not use either
            return subject.numbers.shipped()


def _subject(name: str) -> Subject:
    for subject in SUBJECTS:
        if name == subject.numbers.NAME:
            return subject
    names = ", ".join(subject.numbers.NAME for subject in SUBJECTS)
    raise UnknownSubjectError(f"expected one of {names}, got {name!r}")


def _weigh(subject: Subject, lessons: Sequence[AnyLesson]) -> LessonSample[Any]:
    return weigh_lessons([each for each in lessons if subject.can_learn_from(each)])


def _basis(learned: Sequence[WeightedLesson[Any]]) -> dict[str, Any]:
    return {
        "learned": len(learned),
        "until": learned[-1].lesson.at,
        "look_at": LEAST_CASES,
        "sources": sorted({each.lesson.source_id for each in learned}),
    }


def _sources(fit: StoredFit) -> set[str]:
    return set(fit.basis.get("sources", ()))


def _of(fit: StoredFit | None) -> dict[str, object] | None:
    if fit is None:
        return None
    basis = {name: value for name, value in fit.basis.items() if name != "sources"}
    return {"id": fit.id, "made_at": fit.made_at.isoformat(), **basis}
