"""Learning on site: a challenger is made of earlier tickets and serves once later ones favour it.

Of boxes it is made of earlier words of owners in the place of tickets.

Every challenger starts from what is shipped, never from the fit before it, so that a ticket which
was forgotten is in no later one; a fit that rests on a forgotten ticket is made anew at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from services.gateway.adoption.lessons import Lessons
from services.kit.errors import NotFoundError
from services.kit.fits.fitted import FittedFile, UnusableFitError
from services.kit.fits.in_use import Fits, FitState, StoredFit
from services.kit.sql.database import Database
from services.learning.acceptance import Acceptance
from services.learning.box_words import BoxWords
from services.learning.boxes import Boxes
from services.learning.finding import Finding
from services.learning.judging import LEAST_CASES, Comparison, Outcome, compare
from services.learning.subject import AnyLesson, Subject, Weighed, parted
from services.learning.weighing import weighed

SUBJECTS: tuple[Subject, ...] = (Finding(), Acceptance(), Boxes())
"""What is learned; a further one is a line here."""

_LEAST_LEARNED = 5
_GROWN = 1.25
"""How many times as many tickets are worth a new challenger."""
_OVERTAKEN = 2
"""How many times as many later ones as it learned from leave a challenger undecided for good."""


class UnknownSubjectError(NotFoundError):
    """Nothing is learned under that name."""


@dataclass(frozen=True)
class Progress:
    """Where the learning of one kind of numbers stands."""

    name: str
    lessons: int
    """Tickets that ended, or words on boxes of pages."""
    left_out: int
    """Of people who say the same of everything."""
    happened: str
    """In words."""
    serving: StoredFit | None
    shadow: StoredFit | None

    def told(self) -> dict[str, object]:
        """For programs: counts, figures and times."""
        return {
            "name": self.name,
            "lessons": self.lessons,
            "left_out": self.left_out,
            "happened": self.happened,
            "serving": _of(self.serving),
            "tried": _of(self.shadow),
        }


class Learning:
    """Learns from the tickets of a platform."""

    def __init__(self, fits: Fits, lessons: Callable[[], Sequence[AnyLesson]]) -> None:
        self._fits = fits
        self._lessons = lessons

    @classmethod
    def of(cls, database: Database) -> Self:
        """From its tickets and its pages, into its fits."""
        tickets, words = Lessons(database), BoxWords(database)
        return cls(Fits(database), lambda: [*tickets.all(), *words.all()])

    def run(self) -> list[Progress]:
        """Judge what is tried, and try what the tickets since then teach; again changes nothing."""
        lessons = self._lessons()
        return [self._learn(subject, lessons) for subject in SUBJECTS]

    def standing(self) -> list[Progress]:
        """Where it stands, without doing anything."""
        lessons = self._lessons()
        return [self._told(subject, *_counted(subject, lessons), "") for subject in SUBJECTS]

    def take(self, name: str) -> None:
        """Let what is tried serve now, whatever later tickets say; raises `NoSuchFitError`."""
        self._fits.take(_subject(name).numbers.NAME, {"taken": "by hand"})

    def back(self, name: str) -> FitState | None:
        """See `Fits.back`."""
        return self._fits.back(_subject(name).numbers.NAME)

    def _learn(self, subject: Subject, lessons: Sequence[AnyLesson]) -> Progress:
        told, left_out = _counted(subject, lessons)
        happened = self._forget(subject, told) or self._judge(subject, told)
        if self._fits.in_state(subject.numbers.NAME, FitState.SHADOW) is None:
            happened = "; ".join(each for each in (happened, self._try(subject, told)) if each)
        return self._told(subject, told, left_out, happened)

    def _told(
        self, subject: Subject, told: Sequence[Weighed[Any]], left_out: int, happened: str
    ) -> Progress:
        name = subject.numbers.NAME
        return Progress(
            name=name,
            lessons=len(told),
            left_out=left_out,
            happened=happened,
            serving=self._fits.in_state(name, FitState.SERVING),
            shadow=self._fits.in_state(name, FitState.SHADOW),
        )

    def _forget(self, subject: Subject, told: Sequence[Weighed[Any]]) -> str:
        """Make anew what rests on tickets that are gone; in words what was done."""
        name, here = subject.numbers.NAME, {each.lesson.source_id for each in told}
        stale = [fit for fit in self._fits.history(name) if not _sources(fit) <= here]
        if stale:
            self._fits.drop(name, [fit.id for fit in stale])
        serving = next((fit for fit in stale if fit.state is FitState.SERVING), None)
        if serving is None:
            return ""
        left = [each for each in told if each.lesson.source_id in _sources(serving)]
        gone = len(_sources(serving) - here)
        if len(left) < _LEAST_LEARNED:
            return f"{gone} of what it was learned from are gone: as shipped again"
        made = subject.learn(subject.numbers.shipped(), left)
        self._fits.put(name, made, _basis(left))
        return f"made anew without {gone} that are gone"

    def _judge(self, subject: Subject, told: Sequence[Weighed[Any]]) -> str:
        """Take or refuse what is tried, by the tickets that ended after those it was made of."""
        name = subject.numbers.NAME
        shadow = self._fits.in_state(name, FitState.SHADOW)
        if shadow is None:
            return ""
        later = [each for each in told if each.lesson.at > shadow.basis["until"]]
        if len(later) < shadow.basis["look_at"]:
            return f"tried: {len(later)} later ones, {shadow.basis['look_at']} are awaited"
        try:
            challenger = subject.numbers.of_text(shadow.body, f"fit {name}")
        except UnusableFitError:
            self._fits.refuse(name, {"refused": "of another version"})
            return "what was tried is of another version: tried anew"
        found = compare(subject, challenger, self._serving(subject), later)
        figures = _figures(found)
        if found.outcome is Outcome.BETTER:
            self._fits.take(name, figures)
            return f"taken: {_in_words(found)}"
        is_overtaken = len(later) >= _OVERTAKEN * shadow.basis["learned"]
        if found.outcome is Outcome.WORSE or is_overtaken:
            self._fits.refuse(name, figures)
            return f"not taken: {_in_words(found)}"
        self._fits.note(name, {**figures, "look_at": 2 * len(later)})
        return f"tried: {_in_words(found)}"

    def _try(self, subject: Subject, told: Sequence[Weighed[Any]]) -> str:
        """Set a challenger beside what serves, and judge it by the tickets that were held back."""
        name = subject.numbers.NAME
        earlier, _ = parted(told)
        before = next(iter(self._fits.history(name)), None)
        least = _GROWN * before.basis.get("learned", 0) if before else _LEAST_LEARNED
        if len(earlier) < max(least, _LEAST_LEARNED):
            return "" if before else f"{len(told)} are too few to learn from"
        made = subject.learn(subject.numbers.shipped(), earlier)
        self._fits.try_out(name, made, _basis(earlier))
        return self._judge(subject, told)

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
    known = ", ".join(subject.numbers.NAME for subject in SUBJECTS)
    raise UnknownSubjectError(f"expected one of {known}, got {name!r}")


def _counted(subject: Subject, lessons: Sequence[AnyLesson]) -> tuple[Sequence[Weighed[Any]], int]:
    counted = weighed([each for each in lessons if subject.teaches(each)])
    return counted.lessons, counted.left_out


def _basis(learned: Sequence[Weighed[Any]]) -> dict[str, Any]:
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


def _figures(found: Comparison) -> dict[str, Any]:
    return {
        "cases": found.cases,
        "better_by": round(found.mean, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
    }


def _in_words(found: Comparison) -> str:
    return (
        f"on {found.cases} later ones it foretold better by {found.mean:+.3f}"
        f" ({found.low:+.3f} to {found.high:+.3f}) than what serves"
    )
