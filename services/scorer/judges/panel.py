"""Panel that asks the judge all questions of a ticket, in parallel and within a deadline."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from services.llm.chat_model import (
    BudgetExceededError,
    ChatModel,
    ChatRequest,
    ChatResponse,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    SampleStream,
    Usage,
    estimate_tokens,
)
from services.llm.guard import Budget
from services.runbook.evidence.fact import Fact, ScoredFact, chance_of, log_odds
from services.runbook.ports import AnswerStore, JudgedAnswer
from services.scorer.judges.controls import (
    CONTROLS,
    RIGHT_OPTIONS,
    constant_letter,
    constant_option,
)
from services.scorer.judges.fact_judge import FactJudge, JudgedQuestion
from services.scorer.judges.question import FactQuestion
from services.scorer.metrics import QUESTIONS

BY_MODEL = "model"
"""Decider of the facts that a judge was asked about, together with the evidence of the lines."""
_WEIGHT = 2.0
"""Weight of the judge's log-odds, relative to those of the evidence: it is asked only where these
are weak, and it understands more than words alone say.
"""
_SUREST = 0.02
"""Least chance of error, of judge or evidence, either way."""
_AT_ONCE = 8
"""Questions asked in parallel; the guard of the model admits as many as it may."""
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
    """Verdict of the judge on a ticket's questions."""

    chances: Mapping[int, Sequence[float]] = field(default_factory=dict)
    """Chances of the options, by the place of the question; open questions are left out."""
    withdrawn: str = ""
    """Sentence on why no answer counts; empty if they count."""


class Deadline:
    """Deadline that starts when it is created."""

    def __init__(self, seconds: float, budget: Budget | None = None) -> None:
        """Start the deadline; `budget` is the tokens that all the calls may use."""
        self.seconds = seconds
        self.budget = budget or Budget(sys.maxsize)
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._ends - time.monotonic())

    def bind(self, model: ChatModel) -> ChatModel:
        """Wrap the model so that no answer outlasts the deadline or goes beyond the budget."""
        return _TimedChatModel(model, self)


class _TimedChatModel:
    def __init__(self, model: ChatModel, deadline: Deadline) -> None:
        self.name = model.name
        self._model = model
        self._deadline = deadline

    def complete(self, request: ChatRequest) -> ChatResponse:
        response = self._model.complete(self._with_timeout(request))
        self._deadline.budget.spend(response.usage)
        return response

    def stream(self, request: ChatRequest) -> SampleStream:
        response = yield from self._model.stream(self._with_timeout(request))
        self._deadline.budget.spend(response.usage)
        return response

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        left = self._seconds_left()
        log_probabilities = self._model.log_probabilities(
            messages, text, timeout_s=min(left, timeout_s or left)
        )
        shown = estimate_tokens(message.content for message in messages)
        self._deadline.budget.spend(Usage(prompt_tokens=shown + len(log_probabilities or ())))
        return log_probabilities

    def _with_timeout(self, request: ChatRequest) -> ChatRequest:
        return request.model_copy(update={"timeout_s": self._seconds_left()})

    def _seconds_left(self) -> float:
        self._deadline.budget.check()
        left = self._deadline.left
        if left <= 0:
            raise ModelUnavailableError(
                f"no time is left of the {self._deadline.seconds:.0f} s for scoring"
            )
        return left


class Panel:
    """Judge with its earlier answers and its time limit."""

    def __init__(
        self,
        judge: FactJudge,
        answers: AnswerStore,
        *,
        deadline_s: float,
        ticket_tokens: int = sys.maxsize,
    ) -> None:
        """Create the panel; `ticket_tokens` limits all calls for one ticket together."""
        self._judge = judge
        self._answers = answers
        self._deadline_s = deadline_s
        self._ticket_tokens = ticket_tokens

    def ask(self, questions: Sequence[FactQuestion], within_s: float | None = None) -> PanelVerdict:
        """Return what is answered in time; a question that fails is open and costs nothing else.

        `within_s` is the ticket's own limit, if it is shorter; without time nobody is asked.
        Answers of a judge that is withdrawn are not kept.
        """
        limit_s = self._deadline_s if within_s is None else min(within_s, self._deadline_s)
        deadline = Deadline(limit_s, Budget(self._ticket_tokens))
        by_key = {question.key(self._judge.label): question for question in questions}
        kept = self._answers.get_many(by_key)
        new = self._ask_all({key: q for key, q in by_key.items() if key not in kept}, deadline)
        constant = self._constant_answer(
            [(by_key[key], judgement) for key, judgement in new.items()], deadline
        )
        if constant:
            _log.warning("scorer.judge_withdrawn", answers=constant, questions=len(new))
            QUESTIONS.labels("withdrawn").inc(len(new))
            return PanelVerdict(
                withdrawn=f"The judge was withdrawn: it always answers “{constant}”."
            )
        judged = {
            key: JudgedAnswer(by_key[key].text_hash, judgement.chances or ())
            for key, judgement in new.items()
        }
        self._answers.keep(judged)
        for answer in judged.values():
            QUESTIONS.labels("decided" if answer.chances else "open").inc()
        QUESTIONS.labels("kept").inc(len(kept))
        answers = kept | judged
        keys = [question.key(self._judge.label) for question in questions]
        chances = {n: answers[key].chances for n, key in enumerate(keys) if key in answers}
        return PanelVerdict({place: each for place, each in chances.items() if each})

    def _constant_answer(
        self, answered: Sequence[tuple[FactQuestion, JudgedQuestion]], deadline: Deadline
    ) -> str:
        """Return the one answer that it gives without reading; empty for a judge that reads."""
        letter = constant_letter([judgement.letters for _, judgement in answered])
        option = constant_option(
            [(q, judgement.chances) for q, judgement in answered if judgement.chances]
        )
        if letter or not option:
            return letter
        judgements = self._ask_all(dict(enumerate(CONTROLS)), deadline)
        chosen = [judgements[n].chosen if n in judgements else None for n in range(len(CONTROLS))]
        return "" if chosen == list(RIGHT_OPTIONS) else option

    def _ask_all(
        self, questions: Mapping[Key, FactQuestion], deadline: Deadline
    ) -> dict[Key, JudgedQuestion]:
        if not questions or deadline.left <= 0:
            return {}
        model = deadline.bind(self._judge.model)
        pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="scorer")
        try:
            futures = {
                key: pool.submit(copy_context().run, self._judge.ask, question, model)
                for key, question in questions.items()
            }
            wait(futures.values(), timeout=deadline.left)
            return dict(_completed(futures))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _completed(
    futures: Mapping[Key, "Future[JudgedQuestion]"],
) -> Iterator[tuple[Key, JudgedQuestion]]:
    missing: dict[str, list[str]] = {}
    for key, future in futures.items():
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


def chances_by_judge(
    questions: Sequence[FactQuestion], verdict: PanelVerdict, candidates: int
) -> list[dict[Fact, float]]:
    """Return for each candidate the chances of its facts by the judge alone.

    A fact that several questions are about is as likely as the least likely of their options.
    """
    chances_by_candidate: list[dict[Fact, float]] = [{} for _ in range(candidates)]
    for place, chances in verdict.chances.items():
        for claim in questions[place].claims:
            facts = chances_by_candidate[claim.candidate]
            facts[claim.fact] = min(facts.get(claim.fact, 1.0), chances[claim.option])
    return chances_by_candidate


def combine_with_judge(
    decided: Sequence[ScoredFact], by_model: dict[Fact, float]
) -> list[ScoredFact]:
    """Return the facts; those that the judge decided combine both chances."""
    return [
        each.with_chance(
            chance_of(
                log_odds(each.chance, nearest=_SUREST)
                + _WEIGHT * log_odds(by_model[each.fact], nearest=_SUREST)
            ),
            BY_MODEL,
        )
        if each.fact in by_model
        else each
        for each in decided
    ]
