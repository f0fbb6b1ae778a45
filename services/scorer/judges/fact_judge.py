"""A language model chooses between the options of a question, twice and in another order."""

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
"""Chance of an option that was chosen without a word on how sure the model is."""
_MOST_TOKENS = 24
"""`{"answer": "A"}`, generously."""

_PROMPT = load_prompt("services.scorer", "fact")


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answer: str = Field(min_length=1, max_length=1)


@dataclass(frozen=True)
class JudgedQuestion:
    """What came of asking."""

    letters: tuple[str, ...]
    """Those chosen, one for each order."""
    chances: tuple[float, ...] | None
    """Of the options; None where the two orders were answered differently."""

    @property
    def chosen(self) -> int | None:
        """The place of the option; None where the two orders were answered differently."""
        return self.chances.index(max(self.chances)) if self.chances else None


class FactJudge:
    """Asks one question at a time; safe to call from several threads."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self._is_told = True

    @property
    def label(self) -> str:
        """Prompt and model: another one of either may answer otherwise."""
        return f"{_PROMPT.label} {self.model.name}"

    def ask(self, question: FactQuestion, model: ChatModel) -> JudgedQuestion:
        """`model` is the judge's, as far as there is time for it.

        Raises:
            ModelUnavailableError: The model is down, slow or overloaded.
            ModelRefusedError: The server will not serve this.
            ModelAnswerError: The model's answer cannot be read.
            BudgetExceededError: The ticket's tokens are spent.
        """
        orders = orders_of(question, self.label)
        passes = [self._once(question, order, model) for order in orders]
        chosen = [chances.index(max(chances)) for chances in passes]
        letters = tuple(
            ascii_uppercase[order.index(place)] for order, place in zip(orders, chosen, strict=True)
        )
        if len(set(chosen)) > 1:
            return JudgedQuestion(letters, None)
        means = tuple(sum(each) / len(passes) for each in zip(*passes, strict=True))
        return JudgedQuestion(letters, means)

    def _once(self, question: FactQuestion, order: Sequence[int], model: ChatModel) -> list[float]:
        """Chances by the place of the option in the question."""
        letters = ascii_uppercase[: len(order)]
        messages = messages_of(question, order)
        by_letter = self._told(messages, letters, model) or _chosen(messages, letters, model)
        chances = dict(zip(order, by_letter, strict=True))
        return [chances[place] for place in range(len(order))]

    def _told(
        self, messages: Sequence[Message], letters: str, model: ChatModel
    ) -> list[float] | None:
        """By the likelihood of each whole answer; None where the server does not tell."""
        sums = []
        for letter in letters:
            if not self._is_told:
                return None
            told = model.log_probabilities(messages, answer_of(letter))
            if not told:
                self._is_told = False
                return None
            sums.append(math.fsum(told))
        likeliest = max(sums)
        weights = [math.exp(each - likeliest) for each in sums]
        return [weight / math.fsum(weights) for weight in weights]


def messages_of(question: FactQuestion, order: Sequence[int]) -> tuple[Message, ...]:
    """What a model is asked, with the options in this order of their places."""
    shown = "\n".join(
        f"{letter}. {question.options[place].text}"
        for letter, place in zip(ascii_uppercase, order, strict=False)
    )
    return _PROMPT.render({"lines": question.lines, "question": question.text, "options": shown})


def answer_of(letter: str) -> str:
    """What a model is to answer."""
    return json.dumps({"answer": letter})


def orders_of(question: FactQuestion, label: str) -> tuple[list[int], list[int]]:
    """Two in which no option stands under the same letter; the same for the same question."""
    first = list(range(len(question.options)))
    random.Random(question.key(label)).shuffle(first)  # noqa: S311 - repeatable, no secret
    half = len(first) // 2
    return first, first[half:] + first[:half]


def _chosen(messages: Sequence[Message], letters: str, model: ChatModel) -> list[float]:
    request = ChatRequest(
        messages=tuple(messages),
        temperature=0.0,
        max_tokens=_MOST_TOKENS,
        json_schema=schema(letters),
        prompt=_PROMPT.label,
    )
    answer, _ = ask_for(model, request, _Choice)
    if answer.answer not in letters:
        raise ModelAnswerError(f"expected one of the letters {letters!r}, got {answer.answer!r}")
    return list(chances_of_choice(letters.index(answer.answer), len(letters)))


def chances_of_choice(chosen: int, options: int) -> tuple[float, ...]:
    """Chances of all options where one was chosen without a word on how sure that is."""
    rest = (1 - _CHOSEN) / (options - 1)
    return tuple(_CHOSEN if place == chosen else rest for place in range(options))


def schema(letters: str) -> JsonSchema:
    """What the server enforces: one of the letters."""
    return {
        "type": "object",
        "properties": {"answer": {"enum": list(letters)}},
        "required": ["answer"],
        "additionalProperties": False,
    }
