"""Traces as cases: which changes helped, and what was seen before and after them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from services.contracts.execution import RunOutcome
from services.execution.tools.tool import ToolEffect
from services.investigation.summary.trace import Call, Trace

ONE_MISSING_PER = 5
"""Number of traces of which one may lack what all others have: tools err, people skip looks."""


def is_nearly_all(have: int, of: int) -> bool:
    """Return True if what `have` of them have counts as common to all."""
    return 0 < of <= have + of // ONE_MISSING_PER


class Ending(StrEnum):
    """Outcome of a trace, for learning."""

    HELPED = "helped"
    """Changes were made and all were seen to work, and the ticket recovered."""
    CLOSED = "closed"
    """The ticket ended without a change."""
    HANDED_OVER = "handed_over"
    """A person went on after looks alone."""
    IN_VAIN = "in_vain"
    """A change did not show, was taken back, or has an unknown effect."""
    NOTHING = "nothing"
    """The trace was broken off, or has acts beside it that are not recorded: nothing is learned."""


@dataclass(frozen=True, eq=False)
class TraceCase:
    """One trace, cleaned: without failed calls and rollbacks."""

    trace: Trace
    ending: Ending
    remedy: tuple[str, ...]
    """Names of the tools whose changes helped, or were tried."""

    @cached_property
    def changes(self) -> tuple[Call, ...]:
        """Changes that stayed; for a case in vain, those that were tried."""
        return tuple(
            call
            for call in self.trace.calls
            if call.effect is ToolEffect.CHANGE
            and not call.undoes
            and (self.ending is Ending.IN_VAIN or not call.undone)
        )

    def between(self, made: int) -> tuple[Call, ...]:
        """Return the looks after so many of the changes and before the next; by order, not time."""
        calls = self.trace.calls
        places = [next(n for n, c in enumerate(calls) if c is each) for each in self.changes]
        begin = places[made - 1] + 1 if made else 0
        end = places[made] if made < len(places) else len(calls)
        return tuple(c for c in calls[begin:end] if c.effect is ToolEffect.READ and c.succeeded)

    @cached_property
    def before(self) -> tuple[Call, ...]:
        """Looks before the first of the changes."""
        return self.between(0)

    @cached_property
    def after(self) -> tuple[Call, ...]:
        """Looks after the last of the changes; empty if nothing was changed."""
        return self.between(len(self.changes)) if self.changes else ()


def case_of(trace: Trace) -> TraceCase:
    """Return the case that a trace shows."""
    changes = [c for c in trace.calls if c.effect is ToolEffect.CHANGE and not c.undoes]
    kept = [c for c in changes if not c.undone]
    return TraceCase(trace, _ending(trace, changes, kept), tuple(c.tool for c in kept or changes))


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
    """Return True if a trace shows what to do; a hand-over after looks alone does."""
    return case_of(trace).ending in {Ending.HELPED, Ending.CLOSED, Ending.HANDED_OVER}


def cases_of(traces: Iterable[Trace]) -> list[TraceCase]:
    """Return the cases that can be learned from."""
    cases = (case_of(each) for each in traces)
    return [each for each in cases if each.ending is not Ending.NOTHING]
