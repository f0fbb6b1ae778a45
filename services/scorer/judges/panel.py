"""Asks the judge all questions of a ticket, many at once and not for long."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from services.llm.chat_model import (
    BudgetExceededError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.guard import Budget
from services.procedure.ports import AnswerStore, JudgedAnswer
from services.scorer.judges.constant import always_the_letter, always_the_option
from services.scorer.judges.controls import CONTROLS, RIGHT
from services.scorer.judges.deadline import Deadline
from services.scorer.judges.fact_judge import FactJudge, JudgedQuestion
from services.scorer.judges.question import FactQuestion
from services.scorer.metrics import QUESTIONS

_AT_ONCE = 8
"""Questions that are asked together; the guard of the model lets as many through as it may."""
_OUTCOMES: dict[type[Exception], str] = {
    ModelUnavailableError: "unavailable",
    ModelRefusedError: "refused",
    ModelAnswerError: "unreadable",
    BudgetExceededError: "over_budget",
}

Key = TypeVar("Key", str, int)

_log = structlog.get_logger()


@dataclass(frozen=True)
class PanelVerdict:
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

    def ask(self, questions: Sequence[FactQuestion], within_s: float | None = None) -> PanelVerdict:
        """What is answered in time; a question that fails is open and costs nothing else.

        `within_s` is the ticket's own limit, where it is shorter; without time nobody is asked.
        What a judge said that is withdrawn is not kept.
        """
        limit_s = self._deadline_s if within_s is None else min(within_s, self._deadline_s)
        deadline = Deadline(limit_s, Budget(self._ticket_tokens))
        by_key = {question.key(self._judge.label): question for question in questions}
        kept = self._answers.known(by_key)
        new = self._asked({key: q for key, q in by_key.items() if key not in kept}, deadline)
        constant = self._constant([(by_key[key], asked) for key, asked in new.items()], deadline)
        if constant:
            _log.warning("scorer.judge_withdrawn", answers=constant, questions=len(new))
            QUESTIONS.labels("withdrawn").inc(len(new))
            return PanelVerdict(
                withdrawn=f"The judge was withdrawn: it always answers “{constant}”."
            )
        judged = {
            key: JudgedAnswer(by_key[key].text_hash, asked.chances or ())
            for key, asked in new.items()
        }
        self._answers.keep(judged)
        for answer in judged.values():
            QUESTIONS.labels("decided" if answer.chances else "open").inc()
        QUESTIONS.labels("kept").inc(len(kept))
        return PanelVerdict(_by_place(questions, self._judge.label, kept | judged))

    def _constant(
        self, answered: Sequence[tuple[FactQuestion, JudgedQuestion]], deadline: Deadline
    ) -> str:
        """The one answer that it gives without reading; empty for a judge that reads."""
        letter = always_the_letter([asked.letters for _, asked in answered])
        option = always_the_option([(q, asked.chances) for q, asked in answered if asked.chances])
        return letter or ("" if option and self._passes_controls(deadline) else option)

    def _passes_controls(self, deadline: Deadline) -> bool:
        asked = self._asked(dict(enumerate(CONTROLS)), deadline)
        chosen = [asked[n].chosen if n in asked else None for n in range(len(CONTROLS))]
        return chosen == list(RIGHT)

    def _asked(
        self, questions: Mapping[Key, FactQuestion], deadline: Deadline
    ) -> dict[Key, JudgedQuestion]:
        if not questions or deadline.left <= 0:
            return {}
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


def _by_place(
    questions: Sequence[FactQuestion], label: str, answers: Mapping[str, JudgedAnswer]
) -> dict[int, tuple[float, ...]]:
    """Chances by the place of the question, of those that are decided."""
    found = ((place, answers.get(q.key(label))) for place, q in enumerate(questions))
    return {place: answer.chances for place, answer in found if answer and answer.chances}


def _answered(
    asked: Mapping[Key, "Future[JudgedQuestion]"],
) -> Iterator[tuple[Key, JudgedQuestion]]:
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
