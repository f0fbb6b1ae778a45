"""The port `ChatModel`: messages in, n samples out, with what they cost.

The errors are named by who must act next:

    ModelUnavailableError   retry later    down, slow, overloaded; the circuit may be open
    ModelRefusedError       tell the user  wrong key, unknown model, request it cannot take
    ModelAnswerError        ask again      it answered, but not what was asked for
    BudgetExceededError     tell the user  the ticket's tokens or money are spent
"""

from collections.abc import Generator, Iterable, Sequence
from typing import Any, Literal, Protocol

from pydantic import Field

from services.kit.errors import FlowXpertError, UnavailableError
from services.kit.value import Value

Role = Literal["system", "user", "assistant"]
JsonSchema = dict[str, Any]
CHARACTERS_PER_TOKEN = 3.5
"""Average for operation documents, commands included; staying under a limit needs no tokenizer for
each model.
"""


class ModelUnavailableError(UnavailableError):
    """The model server did not answer in time, or reported that it cannot answer now."""


class ModelRefusedError(FlowXpertError):
    """The server will not serve this request however often it is sent."""

    status_code = 502


class ModelAnswerError(FlowXpertError):
    """The model's answer cannot be parsed as what was requested."""

    status_code = 502
    retryable = True


class BudgetExceededError(FlowXpertError):
    """The tokens or the money set aside for this ticket are spent; waiting brings none back."""

    status_code = 403


class Message(Value):
    """One turn of a conversation."""

    role: Role
    content: str


class ChatRequest(Value):
    """Request to a model. Sampling defaults are the paper's (FlowXpert, best-of-N)."""

    messages: tuple[Message, ...]
    n: int = Field(default=1, ge=1, le=32)
    """Samples in one call."""
    temperature: float = Field(default=1.0, ge=0, le=2)
    max_tokens: int = Field(default=4096, ge=1)
    """Limit for each sample."""
    json_schema: JsonSchema | None = None
    """Schema of the answer; the server enforces it only in hard JSON mode."""
    seed: int | None = None
    prompt: str = ""
    """Name and version of the prompt file, for logs and records."""
    timeout_s: float | None = Field(default=None, gt=0, exclude=True)
    """Seconds for the whole call, retries included; if None, the adapter's own limit holds.
    Excluded from records, because it is no part of the question.
    """


class Usage(Value):
    """Tokens of one call, all samples together."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens


class Sample(Value):
    """One answer."""

    text: str
    finish_reason: str = "stop"
    """`stop`, or `length` when it was cut off at `max_tokens`, or the server's own word."""
    index: int = 0
    """Position among the `n` samples; a stream yields them in the order they are finished."""


class ChatResponse(Value):
    """The samples of one call and what they cost."""

    samples: tuple[Sample, ...]
    model: str
    usage: Usage = Usage()
    seconds: float = 0.0


SampleStream = Generator[Sample, None, ChatResponse]
"""Samples as they are finished; the generator's return value is the whole answer. Closing it stops
the writing of the others.
"""


def drain(stream: SampleStream) -> ChatResponse:
    """Consume a stream and return its whole answer."""
    while True:
        try:
            next(stream)
        except StopIteration as end:
            response: ChatResponse = end.value
            return response


def estimate_tokens(texts: Iterable[str]) -> int:
    """Estimate the tokens of all texts together, for any model."""
    return int(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


class ChatModel(Protocol):
    """A chat model, wherever it runs. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """Name of the model, LoRA adapter included."""

    def complete(self, request: ChatRequest) -> ChatResponse:
        """Return `n` samples; a server that ignores `n` gives at least one.

        Raises:
            ModelUnavailableError: Down, slow or overloaded.
            ModelRefusedError: The request as such is refused.
        """

    def stream(self, request: ChatRequest) -> SampleStream:
        """Yield `n` samples, each as soon as it is finished, in any order.

        Raises:
            ModelUnavailableError: Down, slow or overloaded; samples that came before are good.
            ModelRefusedError: The request as such is refused.
        """

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """Return the natural log-probability of each token of `text` as the assistant's turn.

        None when the server cannot tell; an empty text gives an empty list. `timeout_s` is for the
        whole call; without it the adapter's own limit holds.

        Raises:
            ModelUnavailableError: Down, slow or overloaded.
            ModelRefusedError: The request as such is refused.
        """
