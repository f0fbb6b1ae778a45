"""Judge of facts: a language model chooses among the options of a question, in two orders."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from pydantic import BaseModel, ConfigDict, Field

from services.llm.chat_model import ChatModel, ChatRequest, JsonSchema, Message, ModelAnswerError
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for
from services.scorer.judges.question import FactQuestion

_CHOSEN = 0.9
"""Chance of an option that was chosen if the server gives no probabilities."""
_MOST_TOKENS = 24
"""Tokens of `{"answer": "A"}`, generously."""

_PROMPT = load_prompt("services.scorer", "fact")


class _LetterAnswer(BaseModel):
    model_config = ConfigDict(title="_Choice", extra="forbid")

    answer: str = Field(min_length=1, max_length=1)


@dataclass(frozen=True)
class JudgedQuestion:
    """Judgement of one question."""

    letters: tuple[str, ...]
    """Letters chosen, one for each order."""
    chances: tuple[float, ...] | None
    """Chances of the options; None if the two orders were answered differently."""

    @property
    def chosen(self) -> int | None:
        """Index of the option; None if the two orders were answered differently."""
        return self.chances.index(max(self.chances)) if self.chances else None


class FactJudge:
    """Judge that asks one question at a time; safe to call from several threads."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self._has_log_probabilities = True

    @property
    def label(self) -> str:
        """Label of prompt and model: a change of either may change the answers."""
        return f"{_PROMPT.label} {self.model.name}"

    def ask(self, question: FactQuestion, model: ChatModel) -> JudgedQuestion:
        """Ask the question; `model` is the judge's own, bound to the time that is left.

        Raises:
            ModelUnavailableError: The model is down, slow or overloaded.
            ModelRefusedError: The server will not serve this.
            ModelAnswerError: The model's answer cannot be read.
            BudgetExceededError: The ticket's tokens are spent.
        """
        orders = orders_of(question, self.label)
        passes = [self._ask_in_order(question, order, model) for order in orders]
        chosen = [chances.index(max(chances)) for chances in passes]
        letters = tuple(
            ascii_uppercase[order.index(place)] for order, place in zip(orders, chosen, strict=True)
        )
        if len(set(chosen)) > 1:
            return JudgedQuestion(letters, None)
        means = tuple(sum(each) / len(passes) for each in zip(*passes, strict=True))
        return JudgedQuestion(letters, means)

    def _ask_in_order(
        self, question: FactQuestion, order: Sequence[int], model: ChatModel
    ) -> list[float]:
        """Return the chances of the options, by their place in the question."""
        letters = ascii_uppercase[: len(order)]
        messages = prompt_messages(question, order)
        by_letter = self._probabilities(messages, letters, model) or _choose_letter(
            messages, letters, model
        )
        chances = dict(zip(order, by_letter, strict=True))
        return [chances[place] for place in range(len(order))]

    def _probabilities(
        self, messages: Sequence[Message], letters: str, model: ChatModel
    ) -> list[float] | None:
        """Return chances from the likelihood of each answer; None if the server gives none."""
        sums = []
        for letter in letters:
            if not self._has_log_probabilities:
                return None
            log_probabilities = model.log_probabilities(messages, answer_text(letter))
            if not log_probabilities:
                self._has_log_probabilities = False
                return None
            sums.append(math.fsum(log_probabilities))
        likeliest = max(sums)
        weights = [math.exp(each - likeliest) for each in sums]
        return [weight / math.fsum(weights) for weight in weights]


def prompt_messages(question: FactQuestion, order: Sequence[int]) -> tuple[Message, ...]:
    """Render the prompt, with the options in this order of their places."""
    shown = "\n".join(
        f"{letter}. {question.options[place].text}"
        for letter, place in zip(ascii_uppercase, order, strict=False)
    )
    return _PROMPT.render({"lines": question.lines, "question": question.text, "options": shown})


def answer_text(letter: str) -> str:
    """Return the answer for a letter, as the model is to write it."""
    return json.dumps({"answer": letter})


def orders_of(question: FactQuestion, label: str) -> tuple[list[int], list[int]]:
    """Return two orders in which no option has the same letter; fixed for a question."""
    first = list(range(len(question.options)))
    random.Random(question.key(label)).shuffle(first)  # noqa: S311 - repeatable, no secret
    half = len(first) // 2
    return first, first[half:] + first[:half]


def _choose_letter(messages: Sequence[Message], letters: str, model: ChatModel) -> list[float]:
    request = ChatRequest(
        messages=tuple(messages),
        temperature=0.0,
        max_tokens=_MOST_TOKENS,
        json_schema=schema(letters),
        prompt=_PROMPT.label,
    )
    answer, _ = ask_for(model, request, _LetterAnswer)
    if answer.answer not in letters:
        raise ModelAnswerError(f"expected one of the letters {letters!r}, got {answer.answer!r}")
    return list(chances_of_choice(letters.index(answer.answer), len(letters)))


def chances_of_choice(chosen: int, options: int) -> tuple[float, ...]:
    """Return the chances of all options if one was chosen without probabilities."""
    rest = (1 - _CHOSEN) / (options - 1)
    return tuple(_CHOSEN if place == chosen else rest for place in range(options))


def schema(letters: str) -> JsonSchema:
    """Return the JSON schema that the server enforces: one of the letters."""
    return {
        "type": "object",
        "properties": {"answer": {"enum": list(letters)}},
        "required": ["answer"],
        "additionalProperties": False,
    }
