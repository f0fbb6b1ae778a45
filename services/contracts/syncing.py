"""Sources that are synced on a schedule: their declarations and the log of their syncs."""

from datetime import datetime
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.contracts.client import ContractClient, route
from services.contracts.ingestion import FailedDocument
from services.kit.value import Value

SourceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]


class SyncRequest(BaseModel):
    """Declaration of a folder or a Git repository to ingest repeatedly."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: SourceName
    location: str = Field(min_length=1, max_length=2000)
    """Path of a folder, or URL of a Git repository as https://… or file:///…, without
    credentials.
    """
    branch: str = Field(default="", max_length=200)
    """Branch of a repository; empty: its default branch."""
    subfolder: str = Field(default="", max_length=500)
    """Subfolder of a repository to read; empty: all of it."""
    every_minutes: int = Field(default=60, ge=1, le=60 * 24 * 30)


class LostApproval(Value):
    """Procedures of a page that lost their approval since its text changed."""

    document_id: str
    procedures: tuple[str, ...]


class Synced(Value):
    """One sync, running or ended."""

    id: str
    source: str
    status: str
    """One of `running`, `done` and `failed`."""
    reason: str = ""
    began_at: datetime
    ended_at: datetime | None = None
    commit_before: str = ""
    commit_after: str = ""
    """Commit after the sync; empty for a folder."""
    job_id: str = ""
    """The sync's ingestion job; empty if nothing could be fetched."""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    """Ids of deleted documents; like `added` and `changed` at most the first thousand by id."""
    failed: int = 0
    """Number of documents that could not be ingested."""
    failures: tuple[FailedDocument, ...] = ()
    """The first of them by their ids, each with its reason."""
    approvals_lost: tuple[LostApproval, ...] = ()
    told: bool = False
    """True if the configured address has accepted the notification about this sync."""


class SyncSource(SyncRequest):
    """A declared source, with the state of its last sync."""

    root: str
    """Root of its documents, as `flowxpert roots` lists it."""
    next_at: datetime
    failures: int = 0
    """Number of failed syncs in a row; each makes the pause longer."""
    last: Synced | None = None


class SyncSources(Protocol):
    """Declared sources, ingested on a schedule."""

    def declare(self, request: SyncRequest) -> SyncSource:
        """Create or replace a source; it is synced soon.

        Raises:
            InvalidInputError: Its location is not allowed.
        """

    def sources(self) -> list[SyncSource]:
        """List the declared sources, in the order of their names."""

    def withdraw(self, name: str) -> None:
        """Stop syncing a source; its documents stay until their root is forgotten.

        Raises:
            NotFoundError: No such source.
        """

    def sync(self, name: str) -> SyncSource:
        """Queue a sync now; a running one is not started twice.

        Raises:
            NotFoundError: No such source.
        """

    def syncs(self, name: str, *, limit: int = 20) -> list[Synced]:
        """List the syncs of a source, the newest first.

        Raises:
            NotFoundError: No such source.
        """


class SyncSourcesClient(ContractClient):
    """`SyncSources` in another process, over HTTP."""

    declare = route(SyncSources.declare, "POST", "/v1/sync-sources")
    sources = route(SyncSources.sources, "GET", "/v1/sync-sources")
    withdraw = route(SyncSources.withdraw, "DELETE", "/v1/sync-sources/{name}")
    sync = route(SyncSources.sync, "POST", "/v1/sync-sources/{name}/syncs")
    syncs = route(SyncSources.syncs, "GET", "/v1/sync-sources/{name}/syncs")
