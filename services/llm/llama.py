"""llama.cpp in this process (`xllamacpp`): a GGUF file, no server, no key."""

import os
from pathlib import Path

from services.llm.chat_model import ModelUnavailableError
from services.llm.openai_compatible import OpenAICompatibleChatModel

_ERRORS_ONLY = 1
"""llama.cpp's own log would drown the platform's."""


class LlamaChatModel(OpenAICompatibleChatModel):
    """A GGUF model served by llama.cpp on a loopback port of this process.

    It ends with the process. Its threads spin while they wait, so it leaves one core to others.
    """

    def __init__(
        self,
        model_path: Path,
        *,
        context_tokens: int = 8192,
        parallel: int = 4,
        threads: int = 0,
        timeout_s: float = 120.0,
        hard_json: bool = True,
    ) -> None:
        """`context_tokens` are shared by `parallel` samples at a time; more samples are refused.

        `threads` 0 takes all cores but one.

        Raises:
            ModelUnavailableError: The file is missing, is not GGUF, or does not fit the memory.
        """
        self._server = _start(model_path, context_tokens, parallel, threads)
        super().__init__(
            f"{self._server.listening_address}/v1",
            model_path.stem,
            timeout_s=timeout_s,
            hard_json=hard_json,
        )


def _start(model_path: Path, context_tokens: int, parallel: int, threads: int):  # type: ignore[no-untyped-def]  # noqa: ANN202 - the wheel is untyped and optional
    import xllamacpp  # noqa: PLC0415 - an optional dependency, and slow to import

    if not model_path.is_file():
        raise ModelUnavailableError(f"no GGUF file at {str(model_path)!r}")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_path)
    parameters.model_alias = {model_path.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = context_tokens
    parameters.n_parallel = parallel
    parameters.cpuparams.n_threads = threads or max(1, (os.cpu_count() or 2) - 1)
    parameters.endpoint_metrics = False
    parameters.verbosity = _ERRORS_ONLY
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ModelUnavailableError(
            f"llama.cpp cannot load {model_path.name!r}: {error}"
        ) from error
