"""The chat model that the settings name, with its guard."""

import re
from pathlib import Path

from services.llm.chat_model import ChatModel, ModelRefusedError, ModelUnavailableError
from services.llm.guard import CircuitBreaker, GuardedChatModel, Prices, start_counting
from services.llm.settings import ModelSettings

_ON_THE_HUB = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)/(?P<file>[\w./-]+\.gguf)")


def open_chat_model(settings: ModelSettings, models_dir: Path) -> GuardedChatModel | None:
    """Open the guarded model; None if the settings name none.

    A server need not be up: its calls fail until it is. A GGUF from the hub is kept in
    `models_dir`.

    Raises:
        ModelRefusedError: A server is set without the name of a model.
        ModelUnavailableError: The GGUF file is missing, cannot be downloaded or cannot be loaded.
    """
    if not settings.is_set:
        start_counting()
        return None
    # Most runs have no model, and its client takes a second to load.
    model: ChatModel
    if settings.gguf:
        from services.llm.llama import LlamaChatModel  # noqa: PLC0415 - an optional dependency

        model = LlamaChatModel(
            gguf_file(settings.gguf, models_dir),
            context_tokens=settings.context_tokens,
            threads=settings.threads,
            timeout_s=settings.timeout_s,
            hard_json=settings.hard_json,
        )
    elif settings.name:
        from services.llm.openai_compatible import OpenAICompatibleChatModel  # noqa: PLC0415

        model = OpenAICompatibleChatModel(
            str(settings.url),
            settings.name,
            api_key=settings.api_key.get_secret_value() if settings.api_key else "unused",
            timeout_s=settings.timeout_s,
            hard_json=settings.hard_json,
            prompt_logprobs=settings.prompt_logprobs,
            seeded=settings.seeded,
        )
    else:
        raise ModelRefusedError("FLOWXPERT_MODEL_URL is set: set FLOWXPERT_MODEL_NAME too")
    return GuardedChatModel(
        model,
        tries=settings.tries,
        in_flight=settings.in_flight,
        breaker=CircuitBreaker(pause_s=settings.pause_s),
        prices=Prices(settings.price_in, settings.price_out),
    )


def gguf_file(name: str, models_dir: Path) -> Path:
    """Return the path of that file, downloaded into `models_dir` if the hub has it.

    Raises:
        ModelUnavailableError: The hub did not give it.
    """
    path = Path(name).expanduser()
    on_the_hub = _ON_THE_HUB.fullmatch(name)
    if path.is_file() or not on_the_hub:
        return path
    kept = models_dir / on_the_hub["file"]
    if kept.is_file():
        return kept
    from huggingface_hub import hf_hub_download  # noqa: PLC0415 - slow to import, rarely needed
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        repository, file = on_the_hub["repository"], on_the_hub["file"]
        return Path(hf_hub_download(repository, file, local_dir=models_dir))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailableError(f"cannot download {name!r} from the hub: {error}") from error
