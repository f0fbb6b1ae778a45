"""Asks the parts that use a language model, all at once and not for long."""

import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

import structlog

from services.llm.chat_model import (
    BudgetExceededError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.guard import Budget
from services.scorer.judges.deadline import Deadline
from services.scorer.judges.opinion import Opinion, Part
from services.scorer.judges.subject import Subject
from services.scorer.metrics import PARTS

_OUTCOMES: dict[type[Exception], str] = {
    ModelUnavailableError: "unavailable",
    ModelRefusedError: "refused",
    ModelAnswerError: "unreadable",
    BudgetExceededError: "over_budget",
    TimeoutError: "late",
}

_Found = list[Opinion] | None

_log = structlog.get_logger()


class Panel:
    """The parts beside the evidence; one that fails is missing and costs nothing else."""

    def __init__(
        self, parts: Sequence[Part], *, deadline_s: float, ticket_tokens: int = sys.maxsize
    ) -> None:
        """`ticket_tokens` is what all calls for one ticket may use together."""
        self._parts = tuple(parts)
        self._deadline_s = deadline_s
        self._ticket_tokens = ticket_tokens

    @property
    def is_seated(self) -> bool:
        """Whether there is anybody to ask."""
        return bool(self._parts)

    def ask(self, subject: Subject, within_s: float | None = None) -> dict[str, list[Opinion]]:
        """Each part's opinion of every candidate, by the name of the part.

        `within_s` is the ticket's own limit, where it is shorter; without time nobody is asked.

        A part either speaks about all candidates or is missing: numbers that some have and others
        have not would decide by their absence.
        """
        limit_s = self._deadline_s if within_s is None else min(within_s, self._deadline_s)
        if not self._parts or not subject.evidence or limit_s <= 0:
            return {}
        deadline = Deadline(limit_s, Budget(self._ticket_tokens))
        pool = ThreadPoolExecutor(len(self._parts), thread_name_prefix="scorer")
        try:
            asked = {
                part.name: pool.submit(copy_context().run, part.opinions, subject, deadline)
                for part in self._parts
            }
            found = {name: _awaited(name, future, deadline) for name, future in asked.items()}
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return {name: opinions for name, opinions in found.items() if opinions is not None}


def _awaited(name: str, asked: "Future[_Found]", deadline: Deadline) -> _Found:
    try:
        found = asked.result(timeout=deadline.left)
    except tuple(_OUTCOMES) as error:
        outcome = next(word for kind, word in _OUTCOMES.items() if isinstance(error, kind))
        _log.warning("scorer.part_missing", part=name, outcome=outcome, reason=str(error))
        PARTS.labels(name, outcome).inc()
        return None
    PARTS.labels(name, "given" if found is not None else "not_offered").inc()
    return found
