"""Any server that speaks OpenAI's chat API, vLLM in production, through the official client."""

import socket
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import httpx
import httpx2
from openai import APIError, APIStatusError, DefaultHttpxClient, OpenAI, OpenAIError
from openai.types.chat import ChatCompletionChunk

from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.bounded import BoundedTransport
from services.kit.egress.pinned import PinnedTransport
from services.kit.observability.redaction import redact
from services.llm.chat_model import (
    ChatRequest,
    ChatResponse,
    Message,
    ModelRefusedError,
    ModelUnavailableError,
    Sample,
    SampleStream,
    Usage,
)
from services.llm.deadline import iterate_with_deadline

_LATER = frozenset({408, 409, 425, 429})
"""Client-error statuses that mean "not now" rather than "never"."""
_BLANK_RUNS = (" " * 64, "\n" * 8, "\t" * 16)
"""Stop sequences: where a schema allows blanks, small models write nothing else until their tokens
run out; no answer needs that many.
"""


_MOST_BYTES = 32_000_000
"""Limit for one answer on the wire; the longest completions have some 100,000."""


class OpenAICompatibleChatModel:
    """A model on a server. The client makes no retries, because the guard does."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str = "unused",
        timeout_s: float = 60.0,
        hard_json: bool = True,
        prompt_logprobs: bool = False,
        seeded: bool = True,
    ) -> None:
        """`base_url` ends in /v1.

        `hard_json` lets the server enforce the schema (`response_format`, structured outputs);
        switch it off for a model it hurts. `prompt_logprobs` is vLLM's extension. A server that is
        not `seeded` gets no seed: some builds of vLLM for CPUs break down on one.
        """
        self.name = model
        self._hard_json = hard_json
        self._prompt_logprobs = prompt_logprobs
        self._seeded = seeded
        self._timeout_s = timeout_s
        self._client = OpenAI(
            base_url=base_url,
            api_key=api_key,
            timeout=timeout_s,
            max_retries=0,
            # A redirect would carry prompts to an address that nobody configured.
            http_client=DefaultHttpxClient(
                follow_redirects=False, transport=PinnedTransport(_MOST_BYTES)
            ),
        )
        self._root = base_url.rstrip("/").removesuffix("/v1")
        self._http = httpx.Client(
            timeout=timeout_s,
            headers={"Authorization": f"Bearer {api_key}"},
            transport=BoundedTransport(allow_private=True, within_s=timeout_s),
        )

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`."""
        limit_s = request.timeout_s or self._timeout_s
        with self._translate_errors(limit_s):
            return next(iterate_with_deadline(lambda: self._complete_once(request), limit_s))

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`; closing it closes the connection, so the server stops writing."""
        start = time.perf_counter()
        limit_s = request.timeout_s or self._timeout_s
        state, connection = _StreamState(), _Connection()
        with (
            self._translate_errors(limit_s),
            connection,
            closing(
                iterate_with_deadline(lambda: self._chunks(request, connection), limit_s)
            ) as chunks,
        ):
            for chunk in chunks:
                yield from state.take(chunk)
        if not state.is_whole:
            raise ModelUnavailableError(f"model {self.name!r} broke off in the middle of an answer")
        return ChatResponse(
            samples=tuple(sample for _, sample in sorted(state.finished.items())),
            model=state.model or self.name,
            usage=state.usage,
            seconds=time.perf_counter() - start,
        )

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """See `ChatModel.log_probabilities`; needs vLLM's `prompt_logprobs` and `/tokenize`."""
        if not self._prompt_logprobs:
            return None
        if not text:
            return []
        limit_s = timeout_s or self._timeout_s
        with self._translate_errors(limit_s):
            return next(
                iterate_with_deadline(
                    lambda: self._token_log_probs(messages, text, limit_s), limit_s
                )
            )

    @contextmanager
    def _translate_errors(self, limit_s: float) -> Iterator[None]:
        """Translate the client's errors into those of the port."""
        try:
            yield
        except TimeoutError as error:
            raise ModelUnavailableError(
                f"model {self.name!r} took longer than {limit_s:.1f} s"
            ) from error
        except APIStatusError as error:
            raise _error_for(error.status_code, self.name, error.message) from error
        except (APIError, httpx2.HTTPError, httpx.HTTPError, ForbiddenAddressError) as error:
            raise ModelUnavailableError(f"model {self.name!r} did not answer: {error}") from error
        except OpenAIError as error:
            raise ModelRefusedError(f"model {self.name!r}: {error}") from error
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ModelUnavailableError(
                f"the server of {self.name!r} answered what is no completion: {error!r}"
            ) from error

    def _complete_once(self, request: ChatRequest) -> Generator[ChatResponse, None, None]:
        start = time.perf_counter()
        client = self._client.with_options(timeout=request.timeout_s or self._timeout_s)
        answer = client.chat.completions.create(**self._body(request))
        usage = answer.usage
        samples = tuple(
            Sample(
                text=choice.message.content or "",
                finish_reason=choice.finish_reason,
                index=choice.index,
            )
            for choice in answer.choices
        )
        if not samples:
            raise ModelUnavailableError(f"the server of {self.name!r} answered without a sample")
        yield ChatResponse(
            samples=samples,
            model=answer.model,
            usage=Usage(
                prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens
            )
            if usage
            else Usage(),
            seconds=time.perf_counter() - start,
        )

    def _chunks(
        self, request: ChatRequest, connection: "_Connection"
    ) -> Generator[ChatCompletionChunk, None, None]:
        client = self._client.with_options(timeout=request.timeout_s or self._timeout_s)
        body = self._body(request) | {"stream": True, "stream_options": {"include_usage": True}}
        with client.chat.completions.create(**body) as chunks:
            connection.attach(chunks.response)
            yield from chunks
            connection.detach()

    def _token_log_probs(
        self, messages: Sequence[Message], text: str, limit_s: float
    ) -> Generator[list[float], None, None]:
        body = {"model": self.name, "messages": _wire(messages), "add_generation_prompt": True}
        prompt = self._http.post(f"{self._root}/tokenize", json=body, timeout=limit_s)
        if prompt.is_error:
            raise _error_for(prompt.status_code, self.name, prompt.text)
        prefix = int(prompt.json()["count"])
        dialogue = [*messages, Message(role="assistant", content=text)]
        answer = self._client.with_options(timeout=limit_s).chat.completions.create(
            model=self.name,
            messages=_wire(dialogue),
            max_tokens=1,
            extra_body={
                "prompt_logprobs": 0,
                "add_generation_prompt": False,
                "continue_final_message": True,
            },
        )
        rows: list[dict[str, Any] | None] = (answer.model_extra or {}).get("prompt_logprobs") or []
        # vLLM gives the prompt's own token first; with 0 alternatives it is the only one.
        yield [float(next(iter(row.values()))["logprob"]) for row in rows[prefix:] if row]

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": _wire(request.messages),
            "n": request.n,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        if request.seed is not None and self._seeded:
            body["seed"] = request.seed
        if request.json_schema and self._hard_json:
            schema = {"name": "answer", "schema": request.json_schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
            body["stop"] = list(_BLANK_RUNS)
        return body


class _Connection:
    """Connection of a stream, which is shut down if the stream is left before its end.

    Shut down rather than closed: that wakes the thread that reads it.
    """

    def __init__(self) -> None:
        self._response: httpx2.Response | None = None

    def attach(self, response: httpx2.Response) -> None:
        """Remember the response whose connection this is."""
        self._response = response

    def detach(self) -> None:
        """Forget the connection: all was read, and others may use it from now on."""
        self._response = None

    def __enter__(self) -> None:
        """Enter the context; no connection is open yet."""

    def __exit__(self, *_error: object) -> None:
        network = self._response and self._response.extensions.get("network_stream")
        if network:
            with suppress(OSError):
                network.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


class _StreamState:
    """Samples and usage accumulated from the chunks of a stream."""

    def __init__(self) -> None:
        self.finished: dict[int, Sample] = {}
        self.usage = Usage()
        self.model = ""
        self._texts: dict[int, list[str]] = {}

    @property
    def is_whole(self) -> bool:
        """True if there are samples and each one that was begun is finished."""
        return bool(self.finished) and self.finished.keys() == self._texts.keys()

    def take(self, chunk: ChatCompletionChunk) -> Iterator[Sample]:
        """Add a chunk and yield the samples that it finishes."""
        self.model = self.model or chunk.model
        if chunk.usage:  # vLLM tells it once for all samples, llama.cpp once for each
            self.usage += Usage(
                prompt_tokens=chunk.usage.prompt_tokens,
                completion_tokens=chunk.usage.completion_tokens,
            )
        for choice in chunk.choices:
            parts = self._texts.setdefault(choice.index, [])
            parts.append(choice.delta.content or "")
            if choice.finish_reason and choice.index not in self.finished:
                sample = Sample(
                    text="".join(parts), finish_reason=choice.finish_reason, index=choice.index
                )
                self.finished[choice.index] = sample
                yield sample


def _wire(messages: Sequence[Message]) -> Any:  # noqa: ANN401 - the client's union of dictionaries
    """Return the messages in wire format; secrets and personal data are redacted."""
    return [{"role": message.role, "content": redact(message.content)} for message in messages]


def _error_for(status: int, model: str, detail: str) -> ModelUnavailableError | ModelRefusedError:
    message = f"model {model!r} answered {status}: {detail[:500]}"
    if status in _LATER or status >= 500:
        return ModelUnavailableError(message)
    return ModelRefusedError(message)
