"""Reader of pages by a model: several samples, each revised as a flowchart, then compared."""

import structlog

from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    estimate_tokens,
)
from services.runbook.agreement import find_missing_steps, most_agreed_index
from services.runbook.by_model.page_content import with_commands
from services.runbook.by_model.placement import PLACE_PROMPT, PlacementAnswer, place_blocks
from services.runbook.by_model.question import PROMPT, messages, schema
from services.runbook.by_model.revision import Revision
from services.runbook.by_model.synthetic_tickets import TICKETS_TOKENS, write_tickets
from services.runbook.by_model.synthetic_tickets import messages as ticket_messages
from services.runbook.checking.doubts import find_lost_ways
from services.runbook.checking.walker import MOST_FINDINGS, findings_of
from services.runbook.model import Reader, Reading

_ANSWER_TOKENS = 8192

_log = structlog.get_logger()


class ModelReader:
    """Reader of pages with a chat model; steps that only another sample has become doubts."""

    def __init__(
        self, model: ChatModel, *, samples: int = 2, corrections: int = 2, temperature: float = 0.7
    ) -> None:
        """Create a reader with a model.

        Args:
            model: The chat model.
            samples: Answers that are drawn for each page.
            corrections: Times that a sample is shown as a flowchart, with the walker's findings.
            temperature: The temperature of all calls.
        """
        self._model = model
        self._samples = samples
        self._corrections = corrections
        self._temperature = temperature

    @property
    def version(self) -> str:
        """The prompt's name and version: a change of it has every page read anew."""
        return PROMPT.label

    def estimate(self, text: str) -> int:
        """Return the tokens, in and out, to read the page if every answer is revised once."""
        question_tokens = estimate_tokens(message.content for message in messages(text))
        answer_tokens = min(_ANSWER_TOKENS, estimate_tokens([text]) + 500)
        revision_tokens = (
            question_tokens + 3 * answer_tokens if self._corrections else 0
        )  # the answer, its chart, the next
        ticket_tokens = (
            estimate_tokens(message.content for message in ticket_messages(text)) + TICKETS_TOKENS
        )
        placement_tokens = 2 * answer_tokens  # the program as an outline, and the answer
        reading_tokens = self._samples * (answer_tokens + revision_tokens) + placement_tokens
        return question_tokens + reading_tokens + ticket_tokens

    def ticket_texts(self, text: str) -> tuple[str, ...]:
        """See `write_tickets`."""
        return write_tickets(self._model, text)

    def read(self, text: str) -> Reading:
        """Return the page's procedures, of the soundest samples the most agreed one.

        The reading has no procedure if the page describes none.

        Raises:
            ModelAnswerError: No sample could be read.
            ModelUnavailableError: The model did not answer.
            ModelRefusedError: It will not take the page; as a rule it is too long.
        """
        question = messages(text)
        answers = self._model.complete(self._request(question, self._samples)).samples
        revision = Revision(
            text,
            judge=lambda procedures: findings_of(procedures, text),
            ask=lambda turns: self._complete(self._request((*question, *turns), 1)),
            corrections=self._corrections,
        )
        attempts = [revision.settle(sample.text) for sample in answers]
        readable = [attempt for attempt in attempts if attempt]
        if not readable:
            raise ModelAnswerError("no sample of the page's program could be read")
        soundest = min(len(attempt.findings) for attempt in readable)
        sound = [attempt for attempt in readable if len(attempt.findings) == soundest]
        base = sound[most_agreed_index([attempt.procedures for attempt in sound])]
        others = [attempt.procedures for attempt in readable if attempt is not base]
        update = {"json_schema": PlacementAnswer.model_json_schema(), "prompt": PLACE_PROMPT.label}
        placed = place_blocks(
            base.procedures,
            base.left_out,
            text,
            lambda turns: self._complete(self._request(turns, 1).model_copy(update=update)),
        )
        procedures = with_commands(placed.procedures, text)
        return Reading(
            reader=Reader.MODEL,
            version=self.version,
            model=self._model.name,
            procedures=procedures,
            doubts=(
                *find_missing_steps(procedures, others),
                *find_lost_ways(procedures)[:MOST_FINDINGS],
            ),
            left_out=placed.left_out,
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

    def _complete(self, request: ChatRequest) -> str | None:
        """Return the next answer; None if the model is gone or the dialogue too long."""
        try:
            return self._model.complete(request).samples[0].text
        except (ModelUnavailableError, ModelRefusedError) as error:
            _log.warning("procedure.correction_failed", reason=str(error))
            return None
