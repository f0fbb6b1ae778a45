"""Session with a model: a prompt, its answer as an object, and corrections of that answer."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from services.kit.value import Value
from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    ModelAnswerError,
    ModelUnavailableError,
)
from services.llm.prompts import Prompt, quote_untrusted
from services.llm.structured import Turns, ask_until_valid, json_objects, parse_answer, reply_turns
from services.planner.metrics import COMPOSING_ANSWERS

_log = structlog.get_logger()

Parsed = TypeVar("Parsed")


class MemberAnswer(Value):
    """What each member answers with."""

    analysis: str = ""
    action: dict[str, Any]


@dataclass
class ModelSession:
    """A model with the time and the tokens of one composition."""

    model: ChatModel
    deadline: float
    """Deadline on the monotonic clock."""
    max_tokens: int
    temperature: float
    corrections: int

    def ask(
        self,
        prompt: Prompt,
        values: Mapping[str, str],
        read: Callable[[Mapping[str, Any]], Parsed],
    ) -> Parsed:
        """Ask for an action and parse it with `read`; `ModelAnswerError` leads to a correction.

        Raises:
            ModelAnswerError: It was still wrong after the last correction.
            ModelUnavailableError: The model is away, or the time is up.
            ModelRefusedError: See `ChatModel.complete`.
            BudgetExceededError: See `GuardedChatModel.complete`.
        """
        question = prompt.render(values)
        corrected = False

        def ask(turns: Turns) -> str:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise ModelUnavailableError("the time for the composition is up")
            request = ChatRequest(
                messages=(*question, *turns),
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                json_schema=MemberAnswer.model_json_schema(),
                prompt=prompt.label,
                timeout_s=left,
            )
            return self.model.complete(request).samples[0].text

        def correct(text: str, error: ModelAnswerError) -> Turns:
            """Quote the error, because a model or a description may have written parts of it."""
            nonlocal corrected
            corrected = True
            _log.info("planner.composing_corrected", prompt=prompt.label, why=str(error)[:200])
            why = quote_untrusted("why", str(error))
            reply = f"That cannot be used:\n{why}\nAnswer again, with the JSON only."
            return reply_turns(text[:20_000], reply)

        try:
            parsed = ask_until_valid(
                ask,
                lambda text: read(parse_action(text)),
                tries=self.corrections + 1,
                correct=correct,
            )
        except ModelAnswerError:
            COMPOSING_ANSWERS.labels("unusable").inc()
            raise
        COMPOSING_ANSWERS.labels("corrected" if corrected else "used").inc()
        return parsed


def parse_action(text: str) -> Mapping[str, Any]:
    """Parse the action of an answer; an object without one is taken as the action itself.

    Raises:
        ModelAnswerError: There is no JSON object.
    """
    try:
        return parse_answer(text, MemberAnswer).action
    except ModelAnswerError:
        objects = [each for each in json_objects(text) if each.keys() - {"analysis"}]
        if not objects or "action" in objects[-1]:
            raise
        return objects[-1]
