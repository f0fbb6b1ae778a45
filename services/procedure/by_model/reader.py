"""The reader with a model: samples of the whole page, revised when drawn, then compared."""

import structlog

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from services.llm.tokens import estimated
from services.procedure.agreement import doubts, most_agreed
from services.procedure.by_model.question import PROMPT, messages, schema
from services.procedure.by_model.revision import Attempt, Revision
from services.procedure.by_model.said import SAID_TOKENS, said_of
from services.procedure.by_model.said import messages as about_people
from services.procedure.checking.walker import findings_of
from services.procedure.model import Reader, Reading

_ANSWER_TOKENS = 8192

_log = structlog.get_logger()


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
        told = estimated(message.content for message in about_people(text)) + SAID_TOKENS
        return asked + self._samples * (answer + revised) + told

    def said(self, text: str) -> tuple[str, ...]:
        """See `said_of`."""
        return said_of(self._model, text)

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

    def _settled(self, text: str, asked: tuple[Message, ...], answer: str) -> Attempt | None:
        revision = Revision(
            text,
            judge=lambda procedures: findings_of(procedures, text),
            ask=lambda turns: self._corrected((*asked, *turns)),
            corrections=self._corrections,
        )
        return revision.settled(answer)

    def _corrected(self, dialogue: tuple[Message, ...]) -> str | None:
        """The next answer; None when the model is gone or the dialogue has become too long."""
        try:
            return self._model.complete(self._request(dialogue, 1)).samples[0].text
        except (ModelUnavailableError, ModelRefusedError) as error:
            _log.warning("procedure.correction_failed", reason=str(error))
            return None
