"""A trace as a case: which changes helped, and what was seen before and after them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from services.contracts.execution import RunOutcome
from services.executor.summary.trace import Call, Trace
from services.executor.tools.tool import Effect

MISSING_OF = 5
"""Of so many traces one may lack what all others have: a tool lies once, somebody skips a look."""


def nearly_all(have: int, of: int) -> bool:
    """Whether what `have` of them have counts as common to all."""
    return 0 < of <= have + of // MISSING_OF


class Ending(StrEnum):
    """What a trace shows."""

    HELPED = "helped"
    """Changes were made, all were seen to work, and the ticket recovered."""
    CLOSED = "closed"
    """Nothing had to be changed."""
    HANDED_OVER = "handed_over"
    """A person went on after looks alone."""
    IN_VAIN = "in_vain"
    """Something was changed that did not show, was taken back, or may have been made or not."""
    NOTHING = "nothing"
    """It was broken off, or somebody did something beside it: nobody learns from it."""


@dataclass(frozen=True, eq=False)
class Case:
    """One trace, cleaned: failed calls and what takes changes back are gone."""

    trace: Trace
    ending: Ending
    remedy: tuple[str, ...]
    """Names of the tools that changed something and helped, or were to."""

    @cached_property
    def changes(self) -> tuple[Call, ...]:
        """What stayed changed; in vain: what was tried."""
        if self.ending is Ending.IN_VAIN:
            return tuple(c for c in self._all_changes if not c.undoes)
        return tuple(c for c in self._all_changes if not c.undone and not c.undoes)

    @cached_property
    def looks(self) -> tuple[Call, ...]:
        """What told something."""
        return _looks(self.trace.calls)

    def between(self, made: int) -> tuple[Call, ...]:
        """Looks after so many of the changes and before the next one; by order, not by time."""
        places = [self._place(change) for change in self.changes]
        begin = places[made - 1] + 1 if made else 0
        end = places[made] if made < len(places) else len(self.trace.calls)
        return _looks(self.trace.calls[begin:end])

    @cached_property
    def before(self) -> tuple[Call, ...]:
        """Looks before the first of the changes."""
        return self.between(0)

    @cached_property
    def after(self) -> tuple[Call, ...]:
        """Looks after the last of them; empty where nothing was changed."""
        return self.between(len(self.changes)) if self.changes else ()

    def _place(self, call: Call) -> int:
        return next(place for place, each in enumerate(self.trace.calls) if each is call)

    @property
    def _all_changes(self) -> Sequence[Call]:
        return [c for c in self.trace.calls if c.effect is Effect.CHANGE]


def _looks(calls: Sequence[Call]) -> tuple[Call, ...]:
    return tuple(c for c in calls if c.effect is Effect.READ and c.succeeded)


def case_of(trace: Trace) -> Case:
    """What a trace shows."""
    changes = [c for c in trace.calls if c.effect is Effect.CHANGE and not c.undoes]
    kept = [c for c in changes if not c.undone]
    return Case(trace, _ending(trace, changes, kept), tuple(c.tool for c in kept or changes))


def _ending(trace: Trace, changes: Sequence[Call], kept: Sequence[Call]) -> Ending:
    if trace.ended in {RunOutcome.CANCELLED, RunOutcome.SIMULATED}:
        return Ending.NOTHING
    has_worked = bool(kept) and all(c.succeeded and c.verified for c in kept)
    if has_worked and trace.ended in {RunOutcome.RECOVERED, RunOutcome.DONE}:
        return Ending.NOTHING if trace.by_hand else Ending.HELPED
    if changes:
        return Ending.IN_VAIN
    if trace.by_hand:
        return Ending.HANDED_OVER
    if trace.ended in {RunOutcome.DONE, RunOutcome.RECOVERED}:
        return Ending.CLOSED
    return Ending.HANDED_OVER


def is_successful(trace: Trace) -> bool:
    """Whether a trace shows what to do; a hand-over after looks alone is one such."""
    return case_of(trace).ending in {Ending.HELPED, Ending.CLOSED, Ending.HANDED_OVER}


def cases_of(traces: Iterable[Trace]) -> list[Case]:
    """Those that somebody can learn from."""
    found = (case_of(each) for each in traces)
    return [each for each in found if each.ending is not Ending.NOTHING]
