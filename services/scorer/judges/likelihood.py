"""How likely a language model finds a workflow, given the ticket and what is known.

What counts is the mean log-probability of a token: the sum would only reward shortness. It ranks
workflows above corrupted copies of themselves where asking the same model for a verdict is chance.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from statistics import fmean

from services.contracts.scorer import DIMENSIONS
from services.llm.chat_model import ChatModel, Message
from services.llm.prompts import load_prompt
from services.scorer.judges.deadline import Deadline
from services.scorer.judges.opinion import Opinion
from services.scorer.judges.subject import Subject
from services.scorer.weights import Curve

_AT_ONCE = 8
"""Calls that are sent together; the guard of the model lets as many through as it may."""

_PROMPT = load_prompt("services.scorer", "likelihood")


class Likelihood:
    """Asks the server for the log-probabilities of each candidate's canonical text."""

    name = "likelihood"

    def __init__(self, model: ChatModel, curve: Curve) -> None:
        """`curve` makes 1–5 of a mean log-probability."""
        self._model = model
        self._curve = curve

    def opinions(self, subject: Subject, deadline: Deadline) -> list[Opinion] | None:
        """See `Part.opinions`; every dimension has the same value."""
        model = deadline.bind(self._model)
        messages = _PROMPT.render({"ticket": subject.ticket, "context": subject.context})
        texts = tuple(dict.fromkeys(subject.plain))
        means = dict(zip(texts, _means(model, messages, texts), strict=True))
        found: list[Opinion] = []
        for text in subject.plain:
            mean = means[text]
            if mean is None:
                return None
            found.append(Opinion(dict.fromkeys(DIMENSIONS, self._curve.value(mean))))
        return found


def _means(
    model: ChatModel, messages: Sequence[Message], texts: Sequence[str]
) -> list[float | None]:
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="likelihood")
    try:
        asked = [pool.submit(copy_context().run, _mean, model, messages, text) for text in texts]
        return [future.result() for future in asked]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _mean(model: ChatModel, messages: Sequence[Message], text: str) -> float | None:
    """Of a token; minus infinity for a workflow without a step."""
    if not text:
        return -math.inf
    found = model.log_probabilities(messages, text)
    return fmean(found) if found else None
