"""llama.cpp in this process (`xllamacpp`): a GGUF file, no server, no key."""

import os
import time
from pathlib import Path

from services.llm.chat_model import (
    ChatRequest,
    ChatResponse,
    ModelUnavailableError,
    Sample,
    SampleStream,
    Usage,
    drain,
)
from services.llm.openai_compatible import OpenAICompatibleChatModel

_ERRORS_ONLY = 1
"""llama.cpp's own log would drown the platform's."""


class LlamaChatModel(OpenAICompatibleChatModel):
    """A GGUF model served by llama.cpp on a loopback port of this process.

    It ends with the process. Its threads spin while they wait, so it leaves one core to others.
    Samples are written one after the other, the prompt being read once: on a CPU several at a time
    take longer than that (13 against 20 tokens a second for three samples of a 0.5B model).
    """

    def __init__(
        self,
        model_path: Path,
        *,
        context_tokens: int = 8192,
        threads: int = 0,
        timeout_s: float = 120.0,
        hard_json: bool = True,
    ) -> None:
        """Start the server; `context_tokens` hold the prompt and one answer.

        With `threads` 0 it takes all cores but one.

        Raises:
            ModelUnavailableError: The file is missing, is not GGUF, or does not fit the memory.
        """
        self._server = _start(model_path, context_tokens, threads)
        super().__init__(
            f"{self._server.listening_address}/v1",
            model_path.stem,
            timeout_s=timeout_s,
            hard_json=hard_json,
        )

    def complete(self, request: ChatRequest) -> ChatResponse:
        """See `ChatModel.complete`."""
        return drain(self.stream(request))

    def stream(self, request: ChatRequest) -> SampleStream:
        """See `ChatModel.stream`."""
        start = time.perf_counter()
        samples: list[Sample] = []
        usage = Usage()
        for index in range(request.n):
            update: dict[str, object] = {"n": 1}
            if request.seed is not None:
                update["seed"] = request.seed + index
            if request.timeout_s is not None:
                spent_s = time.perf_counter() - start
                update["timeout_s"] = max(0.01, request.timeout_s - spent_s)
            response = super().complete(request.model_copy(update=update))
            sample = response.samples[0].model_copy(update={"index": index})
            samples.append(sample)
            usage += response.usage
            yield sample
        seconds = time.perf_counter() - start
        return ChatResponse(samples=tuple(samples), model=self.name, usage=usage, seconds=seconds)


def _start(model_path: Path, context_tokens: int, threads: int):  # type: ignore[no-untyped-def]  # noqa: ANN202 - the wheel is untyped and optional
    import xllamacpp  # noqa: PLC0415 - an optional dependency, and slow to import

    if not model_path.is_file():
        raise ModelUnavailableError(f"no GGUF file at {str(model_path)!r}")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_path)
    parameters.model_alias = {model_path.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads or max(1, (os.cpu_count() or 2) - 1)
    parameters.endpoint_metrics = False
    parameters.verbosity = _ERRORS_ONLY
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ModelUnavailableError(
            f"llama.cpp cannot load {model_path.name!r}: {error}"
        ) from error
