"""Settings: one class per service, read from FLOWXPERT_… variables and from `.env`."""

import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import structlog
from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "FLOWXPERT_"
ENV_FILE = ".env"

NOT_SETTINGS = re.compile(r"FLOWXPERT_(DATA|TEST_\w+)")
"""Variables that benchmarks and tests read, known here so that nobody is warned of them."""

_log = structlog.get_logger()


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
        """Each field with the name of the variable that sets it."""
        prefix = cls.model_config.get("env_prefix", "")
        for name, field in cls.model_fields.items():
            yield f"{prefix}{name}".upper(), field


class EmbedderChoice(StrEnum):
    """What computes vectors."""

    TORCH = "torch"
    ONNX = "onnx"
    ONNX_INT8 = "onnx-int8"


class PlatformSettings(Settings):
    """What all services share: where things are kept and where the platform listens."""

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
        description="Queue broker as redis://host:port/0. Unset: an embedded Valkey on loopback.",
    )
    qdrant_url: str | None = Field(
        default=None,
        description="Qdrant server as http://host:6333. Unset: the embedded engine in the data "
        "folder.",
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
        return f"sqlite:///{self.data_dir.resolve() / 'flowxpert.db'}"

    def embedder_path(self, choice: EmbedderChoice) -> Path:
        """The file of an ONNX model, whichever way it was configured."""
        if self.embedder_file is None:
            return _cache_folder(self.data_dir / "models") / f"all-MiniLM-L6-v2.fused.{choice}"
        rounded = "-int8" if choice is EmbedderChoice.ONNX_INT8 else ""
        return self.embedder_file.with_name(self.embedder_file.name + rounded)

    @property
    def resolved_embedding_cache(self) -> Path:
        """The file of remembered vectors, whichever way it was configured."""
        return self.embedding_cache or self.data_dir / "vectors.db"


def _cache_folder(otherwise: Path) -> Path:
    """Where the user's programs keep what can be made again (XDG Base Directory), if there is."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flowxpert"
    except RuntimeError:  # a user without a home
        return otherwise
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return folder if os.access(there, os.W_OK) else otherwise


def unknown_variables(classes: Iterable[type[Settings]]) -> list[str]:
    """Names of FLOWXPERT_… variables, set in the environment or `.env`, that no class knows."""
    known = {name for cls in classes for name, _ in cls.variables()}
    given = {name.upper() for name in (*os.environ, *dotenv_values(ENV_FILE))}
    ours = (name for name in given if name.startswith(PREFIX))
    return sorted(name for name in ours if name not in known and not NOT_SETTINGS.fullmatch(name))


def explained(error: ValidationError, classes: Iterable[type[Settings]]) -> list[str]:
    """What is wrong, a line for each variable; values are not told, since some are secrets."""
    prefixes = {cls.__name__: cls.model_config.get("env_prefix", "") for cls in classes}
    prefix = prefixes.get(error.title, f"{error.title} ")
    return [
        f"{prefix}{'.'.join(map(str, found['loc']))}".upper() + f": {found['msg']}"
        for found in error.errors(include_url=False, include_input=False)
    ]


def report_unknown(classes: Iterable[type[Settings]]) -> list[str]:
    """Log each unknown variable as a warning: a misspelt one must not pass in silence."""
    unknown = unknown_variables(classes)
    for name in unknown:
        _log.warning("kit.unknown_setting", variable=name)
    return unknown
