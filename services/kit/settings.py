"""Settings: one class per service, read from FLOWXPERT_… variables and from `.env`."""

import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import structlog
from dotenv import dotenv_values
from pydantic import Field, HttpUrl, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from services.kit.errors import InvalidInputError

PREFIX = "FLOWXPERT_"
ENV_FILE = ".env"
FILE_SUFFIX = "_FILE"
"""Suffix of a secret's variable that names a file with the secret instead."""

NOT_SETTINGS = re.compile(r"FLOWXPERT_(DATA|TEST_\w+)")
"""Variables of benchmarks and tests, known here so that nobody is warned of them."""

_log = structlog.get_logger()


class UnreadableSecretError(InvalidInputError):
    """The file of a secret cannot be read, or the secret is set twice."""


class SecretFiles(PydanticBaseSettingsSource):
    """Secrets in files, as container engines provide them: `FLOWXPERT_API_KEY_FILE`.

    Whitespace around the secret is not part of it. An empty file is an unset secret.
    """

    def __init__(
        self, settings_cls: type[BaseSettings], *variables: PydanticBaseSettingsSource
    ) -> None:
        """Take the sources whose variables may name the files, the first one wins."""
        super().__init__(settings_cls)
        self._variables: dict[str, str | None] = {}
        for source in reversed(variables):
            if isinstance(source, EnvSettingsSource):
                self._variables.update(source.env_vars)

    def __call__(self) -> dict[str, Any]:
        """Return the secrets by field."""
        secrets = {}
        for name, field in self.settings_cls.model_fields.items():
            value, _, is_json = self.get_field_value(field, name)
            try:
                if value:
                    decoded = self.decode_complex_value(name, field, value) if is_json else value
                    secrets[name] = decoded
            except ValueError as error:
                variable = _variable(self.settings_cls, name) + FILE_SUFFIX
                raise UnreadableSecretError(f"{variable}: the file holds no JSON") from error
        return secrets

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the secret of a field; see the base class.

        Raises:
            UnreadableSecretError: The file cannot be read, or the secret is given beside it.
        """
        variable = _variable(self.settings_cls, field_name)
        file_variable = variable + FILE_SUFFIX
        path = self._variables.get(file_variable.lower()) if is_secret(field.annotation) else None
        if path and self._variables.get(variable.lower()):
            raise UnreadableSecretError(f"set {variable} or {file_variable}, not both")
        try:
            value = Path(path).read_text(encoding="utf-8").strip() if path else None
        except (OSError, ValueError) as error:
            raise UnreadableSecretError(f"{file_variable}: {path!r} cannot be read") from error
        return value, field_name, self.field_is_complex(field)


class Settings(BaseSettings):
    """Base of every service's settings; a subclass sets its own `env_prefix`.

    Every field has a description: it is what `.env.example` and the settings page print.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    @classmethod
    def variables(cls) -> Iterator[tuple[str, FieldInfo]]:
        """Yield each field with the name of its variable."""
        for name, field in cls.model_fields.items():
            yield _variable(cls, name), field

    @classmethod
    def names(cls) -> Iterator[str]:
        """Yield every variable that is read, those of the secrets' files too."""
        for variable, field in cls.variables():
            yield variable
            if is_secret(field.annotation):
                yield variable + FILE_SUFFIX

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic names it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources in order, the first one wins."""
        variables = env_settings, dotenv_settings
        return init_settings, *variables, SecretFiles(settings_cls, *variables)


def is_secret(annotation: object) -> bool:
    """Tell whether a field of this type must not be shown, and may be in a file."""
    return annotation is SecretStr or any(map(is_secret, get_args(annotation)))


class EmbedderChoice(StrEnum):
    """Implementation that computes vectors."""

    TORCH = "torch"
    ONNX = "onnx"
    ONNX_INT8 = "onnx-int8"


class PlatformSettings(Settings):
    """Settings shared by all services: stores, network, logs and limits."""

    data_dir: Path = Field(
        default=Path(".flowxpert"),
        description="Folder of everything an embedded run keeps; one process at a time owns it.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="PostgreSQL as postgresql://user:password@host/name. "
        "Unset: SQLite in the data folder.",
    )
    redis_url: SecretStr | None = Field(
        default=None,
        description="Broker that wakes workers of other processes, as redis://host:port/0. "
        "Unset: one process works, and takes its tasks from the database.",
    )
    learn_every_hours: float = Field(
        default=24.0,
        ge=0,
        description="How often `flowxpert up` learns from how tickets ended, as `flowxpert learn` "
        "does. 0: only by hand.",
    )
    vectors: str | None = Field(
        default=None,
        description="Where vectors are kept: `qdrant`, `qdrant-edge` (the embedded engine in the "
        "data folder) or `pgvector` (PostgreSQL with that extension). Unset: `qdrant` with an "
        "address of one, else `qdrant-edge`.",
    )
    qdrant_url: str | None = Field(
        default=None,
        description="Qdrant server as http://host:6333.",
    )
    qdrant_api_key: SecretStr | None = Field(
        default=None, description="Key of that server, where it asks for one."
    )
    neo4j_url: str | None = Field(
        default=None,
        description="Neo4j server as neo4j://host:7687 (neo4j+s:// with TLS). Unset: the graph is "
        "kept in the database.",
    )
    neo4j_user: str = Field(default="neo4j", description="User of that server.")
    neo4j_password: SecretStr = Field(default=SecretStr(""), description="That user's password.")
    neo4j_database: str | None = Field(
        default=None, description="Database of that server. Unset: the user's own."
    )
    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. Anything but loopback needs a key or an issuer.",
    )
    port: int = Field(
        default=8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    public_url: HttpUrl | None = Field(
        default=None,
        description="Where people reach FlowXpert, as https://flowxpert.example.org, without a "
        "path: sign-in leads back there. Unset: it leads back to loopback addresses alone.",
    )
    api_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Key of the platform itself: its services call each other with it, and whoever "
        "holds it is an admin, but approves nothing. Others: `flowxpert keys create`.",
    )
    max_body_bytes: int = Field(
        default=2_000_000, gt=0, description="Largest request body; a larger one is answered 413."
    )
    max_bodies_bytes: int = Field(
        default=64_000_000,
        gt=0,
        description="Bytes of request bodies that a process holds at a time; the next one is "
        "answered 429.",
    )
    embedder: EmbedderChoice = Field(
        default=EmbedderChoice.ONNX,
        description="What computes the vectors of queries, tickets and steps: `onnx`; `torch`, the "
        "same vectors, later; `onnx-int8`, near ones, in half the time.",
    )
    document_embedder: EmbedderChoice = Field(
        default=EmbedderChoice.ONNX_INT8,
        description="What computes the vectors of documents, likewise. After a change: `flowxpert "
        "reindex`.",
    )
    embedder_file: Path | None = Field(
        default=None,
        description="Model of the `onnx` embedder, as `flowxpert export-embedder` makes it; that "
        "of `onnx-int8` stands beside it with `-int8` added to its name. Unset: in the user's "
        "cache folder. Both are made when first needed.",
    )
    embedding_cache: Path | None = Field(
        default=None,
        description="SQLite file that remembers vectors by model and text. Unset: in the data "
        "folder.",
    )
    embedding_threads: int = Field(
        default=0,
        ge=0,
        description="Threads of the embedder; 0: all cores for `flowxpert ingest`, one while "
        "serving.",
    )
    task_lease_s: float = Field(
        default=60.0,
        ge=10,
        description="Seconds without a sign of life after which the task of a process that died is "
        "given to another; a process that lives gives one every five.",
    )
    stop_within_s: float = Field(
        default=8.0,
        ge=0,
        description="Seconds that the running task gets when the process is asked to stop; then it "
        "is given back, and another process begins it anew. Container engines kill after ten.",
    )
    otlp_endpoint: str | None = Field(
        default=None,
        description="OpenTelemetry collector as http://host:4318; traces go there over OTLP/HTTP. "
        "Unset: none are kept, unless `OTEL_EXPORTER_OTLP_ENDPOINT` names one.",
    )
    log_format: str = Field(
        default="text",
        pattern="^(text|json)$",
        description="`text` for people, `json` for log collectors.",
    )
    log_level: str = Field(
        default="warning",
        pattern="^(debug|info|warning|error)$",
        description="The least severe event that is logged.",
    )
    access_log: bool = Field(default=False, description="Whether each request is logged at info.")

    @property
    def resolved_database_url(self) -> str:
        """The URL to connect to, whichever way it was configured."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir.absolute() / 'flowxpert.db'}"

    def embedder_path(self, choice: EmbedderChoice) -> Path:
        """Return the file of an ONNX model, whichever way it was configured."""
        if self.embedder_file is None:
            return _cache_folder(self.data_dir / "models") / f"all-MiniLM-L6-v2.fused.{choice}"
        rounded = "-int8" if choice is EmbedderChoice.ONNX_INT8 else ""
        return self.embedder_file.with_name(self.embedder_file.name + rounded)

    @property
    def resolved_embedding_cache(self) -> Path:
        """The file of remembered vectors, whichever way it was configured."""
        return self.embedding_cache or self.data_dir / "vectors.db"


def _cache_folder(otherwise: Path) -> Path:
    """Return the user's cache folder (XDG Base Directory), else `otherwise`."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flowxpert"
    except RuntimeError:  # a user without a home
        return otherwise
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return folder if os.access(there, os.W_OK) else otherwise


def unknown_variables(classes: Iterable[type[Settings]]) -> list[str]:
    """List FLOWXPERT_… variables, of the environment or `.env`, that no class declares."""
    declared = {name for cls in classes for name in cls.names()}
    present = {name.upper() for name in (*os.environ, *dotenv_values(ENV_FILE))}
    ours = (name for name in present if name.startswith(PREFIX))
    return sorted(
        name for name in ours if name not in declared and not NOT_SETTINGS.fullmatch(name)
    )


def _variable(cls: type[BaseSettings], field_name: str) -> str:
    return f"{cls.model_config.get('env_prefix', '')}{field_name}".upper()


def describe_errors(error: ValidationError, classes: Iterable[type[Settings]]) -> list[str]:
    """Return a line for each invalid variable; values are left out, since some are secrets."""
    prefixes = {cls.__name__: cls.model_config.get("env_prefix", "") for cls in classes}
    prefix = prefixes.get(error.title, f"{error.title} ")
    return [
        f"{prefix}{'.'.join(map(str, issue['loc']))}".upper() + f": {issue['msg']}"
        for issue in error.errors(include_url=False, include_input=False)
    ]


def report_unknown(classes: Iterable[type[Settings]]) -> list[str]:
    """Log each unknown variable as a warning: a misspelt one must not pass in silence."""
    unknown = unknown_variables(classes)
    for name in unknown:
        _log.warning("kit.unknown_setting", variable=name)
    return unknown
