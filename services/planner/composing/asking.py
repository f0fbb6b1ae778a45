"""Asking one member of the team: a prompt, its answer as an object, and what to correct in it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog

from services.kit.value import Value
from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelUnavailableError,
)
from services.llm.parsing import json_objects, parse_answer
from services.llm.prompts import Prompt, quoted
from services.planner.metrics import COMPOSING_ANSWERS

_log = structlog.get_logger()

Made = TypeVar("Made")


class MemberAnswer(Value):
    """What each member answers with."""

    analysis: str = ""
    action: dict[str, Any]


@dataclass
class Asking:
    """A model with the time and the tokens of one composition."""

    model: ChatModel
    ends: float
    """On the monotonic clock."""
    max_tokens: int
    temperature: float
    corrections: int
    calls: int = field(default=0, init=False)

    def ask(
        self,
        prompt: Prompt,
        values: Mapping[str, str],
        read: Callable[[Mapping[str, Any]], Made],
    ) -> Made:
        """What `read` makes of the action; it raises `ModelAnswerError` for what is to be mended.

        Raises:
            ModelAnswerError: It was still wrong after the last correction.
            ModelUnavailableError: The model is away, or the time is up.
            ModelRefusedError: See `ChatModel.complete`.
            BudgetExceededError: See `GuardedChatModel.complete`.
        """
        messages = prompt.render(values)
        for left in range(self.corrections, -1, -1):
            text = self._complete(prompt, messages)
            try:
                made = read(action_in(text))
            except ModelAnswerError as error:
                _log.info("planner.composing_corrected", prompt=prompt.label, why=str(error)[:200])
                if not left:
                    COMPOSING_ANSWERS.labels("unusable").inc()
                    raise
                messages = (
                    *messages,
                    Message(role="assistant", content=text[:20_000]),
                    Message(role="user", content=_correction(error)),
                )
                continue
            COMPOSING_ANSWERS.labels("used" if left == self.corrections else "corrected").inc()
            return made
        raise AssertionError("a negative number of corrections")

    def _complete(self, prompt: Prompt, messages: tuple[Message, ...]) -> str:
        left = self.ends - time.monotonic()
        if left <= 0:
            raise ModelUnavailableError("the time for the composition is up")
        self.calls += 1
        asked = ChatRequest(
            messages=messages,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            json_schema=MemberAnswer.model_json_schema(),
            prompt=prompt.label,
            timeout_s=left,
        )
        return self.model.complete(asked).samples[0].text


def action_in(text: str) -> Mapping[str, Any]:
    """The action of an answer; an object without one is taken for the action itself.

    Raises:
        ModelAnswerError: There is no JSON object.
    """
    try:
        return parse_answer(text, MemberAnswer).action
    except ModelAnswerError:
        found = [each for each in json_objects(text) if each.keys() - {"analysis"}]
        if not found or "action" in found[-1]:
            raise
        return found[-1]


def _correction(error: ModelAnswerError) -> str:
    """Names and texts in it may come from the model or from descriptions: they are quoted."""
    return f"That cannot be used:\n{quoted('why', str(error))}\nAnswer again, with the JSON only."
