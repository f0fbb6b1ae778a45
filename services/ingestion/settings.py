"""Settings of ingestion and of syncs."""

from pathlib import Path

from pydantic import Field, HttpUrl, SecretStr
from pydantic_settings import SettingsConfigDict

from services.kit.settings import PREFIX, Settings


class IngestionSettings(Settings):
    """Settings of ingestion: what may be ingested, from where, and how much."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}INGESTION_")

    allowed_roots: tuple[Path, ...] = Field(
        default=(),
        description="Folders, as a JSON list, that requests over HTTP may name paths in. Empty: "
        "documents come by upload and by the command line only.",
    )
    work_dir: Path | None = Field(
        default=None,
        description="Folder that keeps uploads until they are read; a server and its workers in "
        "processes of their own share it. Unset: `ingestion` in the data folder.",
    )
    max_file_bytes: int = Field(
        default=50_000_000, gt=0, description="Largest single file; a larger one fails."
    )
    max_text_chars: int = Field(
        default=5_000_000,
        gt=0,
        description="Longest document once it is text; a longer one fails.",
    )
    max_documents: int = Field(
        default=100_000, gt=0, description="Most documents under one root; more fail the job."
    )
    max_archive_bytes: int = Field(
        default=2_000_000_000,
        gt=0,
        description="Largest archive, expanded; a larger one fails the job.",
    )
    max_archive_ratio: int = Field(
        default=200,
        gt=0,
        description="Most bytes that one packed byte of an archive may expand to; a file beyond "
        "it is taken for a bomb and fails.",
    )
    max_upload_files: int = Field(
        default=1_000, gt=0, description="Most files in one upload; more are answered 413."
    )
    max_upload_bytes: int = Field(
        default=200_000_000, gt=0, description="Largest upload; a larger one is answered 413."
    )
    reader_timeout_s: float = Field(
        default=120.0, gt=0, description="Longest time for one PDF, DOCX or HTML file, in seconds."
    )
    reader_memory_bytes: int = Field(
        default=4_000_000_000,
        ge=500_000_000,
        description="Most memory for the process that reads PDF, DOCX and HTML files.",
    )
    window_chunks: int = Field(
        default=512,
        ge=1,
        description="Chunks that are embedded and written together: what a kill makes to be done "
        "again.",
    )
    batch_texts: int = Field(
        default=64, ge=1, description="Texts of similar length that go to the embedder at once."
    )

    graph_answer_tokens: int = Field(
        default=1_500,
        ge=16,
        description="Longest answer of the model while it builds the graph; one that is cut off "
        "is not read.",
    )
    graph_documents: int = Field(
        default=4, ge=1, description="Documents that the model builds the graph of at a time."
    )

    most_cases: int = Field(
        default=20,
        ge=1,
        le=1000,
        description="Resolved tickets that are kept of a page as its typical cases: the newest.",
    )
    learned_expires_days: int = Field(
        default=180,
        ge=0,
        le=36_500,
        description="Days after which an accepted page that was learned is taken out, unless a "
        "run shows before that it holds; 0: never. Pages composed from a sentence stay.",
    )
    proposer_may_accept: bool = Field(
        default=False,
        description="Whether whoever had a page written may accept it, where people sign in.",
    )
    read_pages: int = Field(
        default=4, ge=1, description="Pages that the model reads at a time (`flowxpert read`)."
    )


class SyncSettings(Settings):
    """Settings of syncs: allowed hosts, limits of a fetch, and the callback."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SYNC_")

    allowed_hosts: list[str] = Field(
        default=[],
        description="Hosts that Git repositories may come from, and that may be told of syncs, as "
        'JSON, such as `["git.acme.net"]`. file:///… needs a folder below '
        "FLOWXPERT_INGESTION_ALLOWED_ROOTS instead.",
    )
    allow_private: bool = Field(
        default=False,
        description="Whether these hosts may have loopback or private addresses, and speak plain "
        "HTTP.",
    )
    credentials: dict[str, SecretStr] = Field(
        default={},
        description="Who fetches, as JSON: the beginning of an address after its scheme to "
        '`user:token`, such as `{"git.acme.net/ops/": "reader:…"}`; the longest that fits.',
    )
    most_bytes: int = Field(
        default=500_000_000, gt=0, description="Most bytes that one fetch may bring."
    )
    within_s: float = Field(default=600.0, gt=0, description="Longest time for one fetch.")
    callback_url: HttpUrl | None = Field(
        default=None,
        description="Address that is told, as signed JSON, of syncs that failed or that took "
        "approvals away.",
    )
    callback_secret: SecretStr = Field(
        default=SecretStr(""), description="Signs it: HMAC-SHA256 in `X-FlowXpert-Signature`."
    )
