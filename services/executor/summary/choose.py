"""Which of several ways to learn is the better one, by cases that were left out."""

from collections.abc import Callable, Sequence

from services.executor.summary.cases import Ending, case_of, nearly_all
from services.executor.summary.learned import Learned
from services.executor.summary.plan import NotLearnedError
from services.executor.summary.replay import replayed, replays
from services.executor.summary.trace import Trace
from services.executor.tools.catalogue import Catalogue
from services.kit.value import Value

MOST_LEFT_OUT = 6
"""Traces that are left out, one at a time; of more these first ones."""

Learn = Callable[[Sequence[Trace]], Learned]
"""Raises `NotLearnedError`."""


class Measured(Value):
    """What was learned, with how it does on traces."""

    learned: Learned
    replayed: int
    """Of the traces at hand."""
    left_out: int | None
    """Of those that it was not learned from; None where there is one trace alone."""

    @property
    def rank(self) -> tuple[int, int]:
        """The larger the better."""
        return (self.left_out or 0, self.replayed)


def measured(learn: Learn, traces: Sequence[Trace], catalogue: Catalogue) -> Measured:
    """Learn from all, and once more without each of them.

    Raises:
        NotLearnedError: All together say nothing.
    """
    learned = learn(traces)
    right = _replayed(learned, traces, catalogue)
    if len(traces) == 1:
        return Measured(learned=learned, replayed=right, left_out=None)
    held = sum(
        _holds(learn, [*traces[:place], *traces[place + 1 :]], each, catalogue)
        for place, each in enumerate(traces[:MOST_LEFT_OUT])
    )
    return Measured(learned=learned, replayed=right, left_out=held)


def _replayed(learned: Learned, traces: Sequence[Trace], catalogue: Catalogue) -> int:
    """How many of the traces it was learned from it is right on.

    Raises:
        NotLearnedError: On too few of those that show what to do.
    """
    played = replays(learned, traces, catalogue)
    for shown in (Ending.HELPED, Ending.CLOSED):
        mine = [r for t, r in zip(traces, played, strict=True) if case_of(t).ending is shown]
        wrong = [each for each in mine if not each.is_right]
        if wrong and not nearly_all(len(mine) - len(wrong), len(mine)):
            raise NotLearnedError(
                f"carried out on the traces it does otherwise in {len(wrong)} of {len(mine)}: "
                f"{wrong[0].why}"
            )
    return sum(each.is_right for each in played)


def _holds(learn: Learn, others: Sequence[Trace], left_out: Trace, catalogue: Catalogue) -> bool:
    try:
        return replayed(learn(others), left_out, catalogue).is_right
    except NotLearnedError:
        return False
