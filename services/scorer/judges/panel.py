"""Asks the judge all questions of a ticket, many at once and not for long."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field

import structlog

from services.llm.chat_model import (
    BudgetExceededError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.guard import Budget
from services.scorer.judges.answer_store import AnswerStore
from services.scorer.judges.constant import always_the_letter, always_the_option
from services.scorer.judges.deadline import Deadline
from services.scorer.judges.fact_judge import Asked, FactJudge
from services.scorer.judges.question import Question
from services.scorer.metrics import QUESTIONS

_AT_ONCE = 8
"""Questions that are asked together; the guard of the model lets as many through as it may."""
_OUTCOMES: dict[type[Exception], str] = {
    ModelUnavailableError: "unavailable",
    ModelRefusedError: "refused",
    ModelAnswerError: "unreadable",
    BudgetExceededError: "over_budget",
}

_log = structlog.get_logger()


@dataclass(frozen=True)
class Verdict:
    """What the judge says."""

    chances: Mapping[int, Sequence[float]] = field(default_factory=dict)
    """Of the options, by the place of the question; open ones are left out."""
    withdrawn: str = ""
    """A sentence on why nothing of it counts, where that is so."""


class Panel:
    """A judge, what it said before, and how long it may take."""

    def __init__(
        self,
        judge: FactJudge,
        answers: AnswerStore,
        *,
        deadline_s: float,
        ticket_tokens: int = sys.maxsize,
    ) -> None:
        """`ticket_tokens` is what all calls for one ticket may use together."""
        self._judge = judge
        self._answers = answers
        self._deadline_s = deadline_s
        self._ticket_tokens = ticket_tokens

    def ask(self, questions: Sequence[Question], within_s: float | None = None) -> Verdict:
        """What is answered in time; a question that fails is open and costs nothing else.

        `within_s` is the ticket's own limit, where it is shorter; without time nobody is asked.
        What a judge said that is withdrawn is not kept.
        """
        limit_s = self._deadline_s if within_s is None else min(within_s, self._deadline_s)
        keys = [question.key(self._judge.label) for question in questions]
        by_key = dict(zip(keys, questions, strict=True))
        stored = ((key, self._answers.get(key)) for key in by_key)
        kept = {key: chances for key, chances in stored if chances is not None}
        new = self._asked({k: q for k, q in by_key.items() if k not in kept}, limit_s)
        chances = kept | {key: asked.chances or () for key, asked in new.items()}
        told = {n: chances[key] for n, key in enumerate(keys) if chances.get(key)}
        constant = always_the_letter([asked.letters for asked in new.values()])
        constant = constant or always_the_option(questions, told)
        if constant:
            _log.warning("scorer.judge_withdrawn", answers=constant, questions=len(chances))
            QUESTIONS.labels("withdrawn").inc(len(chances))
            return Verdict(withdrawn=f"The judge was withdrawn: it always answers “{constant}”.")
        for key, asked in new.items():
            self._answers.put(key, asked.chances or ())
            QUESTIONS.labels("open" if asked.chances is None else "decided").inc()
        QUESTIONS.labels("kept").inc(len(kept))
        return Verdict(told)

    def _asked(self, questions: Mapping[str, Question], limit_s: float) -> dict[str, Asked]:
        if not questions or limit_s <= 0:
            return {}
        deadline = Deadline(limit_s, Budget(self._ticket_tokens))
        model = deadline.bind(self._judge.model)
        pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="scorer")
        try:
            asked = {
                key: pool.submit(copy_context().run, self._judge.ask, question, model)
                for key, question in questions.items()
            }
            wait(asked.values(), timeout=deadline.left)
            return dict(_answered(asked))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _answered(asked: Mapping[str, "Future[Asked]"]) -> Iterator[tuple[str, Asked]]:
    missing: dict[str, list[str]] = {}
    for key, future in asked.items():
        if not future.done():
            missing.setdefault("late", []).append("no answer in time")
            continue
        try:
            yield key, future.result()
        except tuple(_OUTCOMES) as error:
            outcome = next(word for kind, word in _OUTCOMES.items() if isinstance(error, kind))
            missing.setdefault(outcome, []).append(str(error))
    for outcome, reasons in missing.items():
        _log.warning(
            "scorer.questions_unanswered",
            outcome=outcome,
            questions=len(reasons),
            reason=reasons[0],
        )
        QUESTIONS.labels(outcome).inc(len(reasons))
