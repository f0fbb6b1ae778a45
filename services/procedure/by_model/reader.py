"""The reader with a model: samples of the whole page, revised when drawn, then compared."""

from collections.abc import Sequence
from typing import NamedTuple

import structlog

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.parsing import parse_answer
from services.llm.tokens import estimated
from services.procedure.agreement import doubts, most_agreed
from services.procedure.by_model.commands import with_commands
from services.procedure.by_model.question import PROMPT, Program, messages, schema
from services.procedure.check import UnusableReadingError, checked
from services.procedure.drawn import drawn
from services.procedure.model import Procedure, Reader, Reading
from services.procedure.walker import Found, findings_of

_ANSWER_TOKENS = 8192

_log = structlog.get_logger()


class _Attempt(NamedTuple):
    """A readable answer, and what the walker found in it."""

    procedures: tuple[Procedure, ...]
    found: Sequence[Found]


class ModelReader:
    """Reads a page with a chat model. What its samples say differently are its doubts."""

    def __init__(
        self, model: ChatModel, *, samples: int = 3, corrections: int = 2, temperature: float = 0.7
    ) -> None:
        """`corrections` is how often a sample is shown as drawn, with the walker's findings."""
        self._model = model
        self._samples = samples
        self._corrections = corrections
        self._temperature = temperature

    @property
    def version(self) -> str:
        """The prompt's name and version: a page is read anew when it changes."""
        return PROMPT.label

    def estimate(self, text: str) -> int:
        """Tokens, in and out, that reading the page costs when every answer is revised once."""
        asked = estimated(message.content for message in messages(text))
        answer = min(_ANSWER_TOKENS, estimated([text]) + 500)
        revised = asked + 3 * answer if self._corrections else 0  # the answer, its chart, the next
        return asked + self._samples * (answer + revised)

    def read(self, text: str) -> Reading:
        """The page's procedures, of the soundest samples the one that the others agree with most.

        None where it tells nothing.

        Raises:
            ModelAnswerError: No sample could be read.
            ModelUnavailableError: The model did not answer.
            ModelRefusedError: It will not take the page; as a rule it is too long.
        """
        asked = messages(text)
        answers = self._model.complete(self._request(asked, self._samples)).samples
        attempts = [self._settled(text, asked, sample.text) for sample in answers]
        readable = [attempt for attempt in attempts if attempt]
        if not readable:
            raise ModelAnswerError("no sample of the page's program could be read")
        soundest = min(len(attempt.found) for attempt in readable)
        sound = [a.procedures for a in readable if len(a.found) == soundest]
        base = sound[most_agreed(sound)]
        others = [a.procedures for a in readable if a.procedures is not base]
        return Reading(
            reader=Reader.MODEL,
            version=self.version,
            model=self._model.name,
            procedures=base,
            doubts=doubts(base, others),
        )

    def _request(self, dialogue: tuple[Message, ...], samples: int) -> ChatRequest:
        return ChatRequest(
            messages=dialogue,
            n=samples,
            temperature=self._temperature,
            max_tokens=_ANSWER_TOKENS,
            json_schema=schema(),
            prompt=self.version,
        )

    def _settled(self, text: str, asked: tuple[Message, ...], answer: str) -> _Attempt | None:
        """The soundest of the answer and its revisions; None when none could be read.

        Each is shown as the flowchart that it becomes, once at least; of two that are as sound the
        later one counts, since its writer has seen the earlier one drawn.
        """
        best: _Attempt | None = None
        dialogue = asked
        for correction in range(self._corrections + 1):
            attempt, complaint = _attempt(text, answer)
            if attempt and (best is None or len(attempt.found) <= len(best.found)):
                best = attempt
            is_settled = attempt is not None and not attempt.found and correction > 0
            if is_settled or correction == self._corrections:
                return best
            turns = (
                Message(role="assistant", content=answer),
                Message(role="user", content=complaint),
            )
            dialogue = (*dialogue, *turns)
            revised = self._corrected(dialogue)
            if revised is None:
                return best
            answer = revised
        return best

    def _corrected(self, dialogue: tuple[Message, ...]) -> str | None:
        """The next answer; None when the model is gone or the dialogue has become too long."""
        try:
            return self._model.complete(self._request(dialogue, 1)).samples[0].text
        except (ModelUnavailableError, ModelRefusedError) as error:
            _log.warning("procedure.correction_failed", reason=str(error))
            return None


def _attempt(text: str, answer: str) -> tuple[_Attempt | None, str]:
    """The answer as procedures of this text, and what to tell the model; empty when all is well."""
    try:
        program = parse_answer(answer, Program)
        kept = checked(Reading(reader=Reader.MODEL, procedures=program.procedures), text)
    except (ModelAnswerError, UnusableReadingError) as error:
        return None, f"That cannot be used: {error}. Answer with the JSON only."
    procedures = with_commands(kept.reading.procedures, text)
    found = [*map(Found, kept.remarks), *findings_of(procedures, text)]
    return _Attempt(procedures, found), _review(procedures, found)


def _review(procedures: Sequence[Procedure], found: Sequence[Found]) -> str:
    """What the model is told of its program: how it is drawn, and what the walker found in it."""
    charts = "\n\n".join(drawn(procedure) for procedure in procedures) or "(no procedure)"
    told = "".join(f"- {each}\n" for each in found)
    wrong = f"These things look wrong in it:\n{told}" if told else ""
    return (
        f"This is the flowchart that your program becomes:\n{charts}\n{wrong}Hold it against the "
        "page: is each step done under the right condition, does each answer lead where the page "
        "says, is anything missing or asked that the page does not ask? Write the program again, "
        "corrected, or as it is when all is right."
    )
