"""Sources that are synced on a schedule: what is declared, and what each sync did."""

from datetime import datetime
from typing import Annotated, Protocol
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.contracts.ingestion import FailedDocument
from services.kit.http.client import ServiceClient
from services.kit.value import Value

SourceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]


class SyncRequest(BaseModel):
    """A folder or a Git repository that is to be brought in again and again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: SourceName
    location: str = Field(min_length=1, max_length=2000)
    """A folder's path, or a Git repository as https://… or file:///…, without credentials."""
    branch: str = Field(default="", max_length=200)
    """Of a repository; empty: its own default."""
    subfolder: str = Field(default="", max_length=500)
    """Of a repository: what is read of it."""
    every_minutes: int = Field(default=60, ge=1, le=60 * 24 * 30)


class LostApproval(Value):
    """Procedures of a page that were approved, and are not any more since its text changed."""

    document_id: str
    procedures: tuple[str, ...]


class Synced(Value):
    """One sync, under way or ended."""

    id: str
    source: str
    status: str
    """`running`, `done` or `failed`."""
    reason: str = ""
    began_at: datetime
    ended_at: datetime | None = None
    commit_before: str = ""
    commit_after: str = ""
    """Empty for a folder."""
    job_id: str = ""
    """The ingestion that it became; empty where nothing could be fetched."""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    """Documents; of very many, the first thousand by their ids."""
    failed: int = 0
    """Documents that could not be taken in."""
    failures: tuple[FailedDocument, ...] = ()
    """The first of them by their ids, each with its reason."""
    approvals_lost: tuple[LostApproval, ...] = ()
    told: bool = False
    """Whether the address that is told of syncs has taken it."""


class SyncSource(SyncRequest):
    """A declared source and how its last sync went."""

    root: str
    """What `flowxpert roots` calls its documents' origin."""
    next_at: datetime
    failures: int = 0
    """Syncs in a row that failed: each makes the pause longer."""
    last: Synced | None = None


class Syncing(Protocol):
    """Brings declared sources in on a schedule."""

    def declare(self, request: SyncRequest) -> SyncSource:
        """Write or replace a source; it is synced soon.

        Raises:
            InvalidInputError: Its place is not allowed.
        """

    def sources(self) -> list[SyncSource]:
        """In the order of their names."""

    def withdraw(self, name: str) -> None:
        """Sync it no more; its documents stay until their root is forgotten.

        Raises:
            NotFoundError: No such source.
        """

    def sync(self, name: str) -> SyncSource:
        """Queue a sync now; one that is under way is not begun twice.

        Raises:
            NotFoundError: No such source.
        """

    def syncs(self, name: str, *, limit: int = 20) -> list[Synced]:
        """Syncs of a source, the newest first.

        Raises:
            NotFoundError: No such source.
        """


class SyncingClient:
    """`Syncing` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def declare(self, request: SyncRequest) -> SyncSource:
        """See `Syncing.declare`."""
        return SyncSource.model_validate(self._client.post("/v1/sync-sources", request))

    def sources(self) -> list[SyncSource]:
        """See `Syncing.sources`."""
        found = self._client.get("/v1/sync-sources")
        return [SyncSource.model_validate(each) for each in found]

    def withdraw(self, name: str) -> None:
        """See `Syncing.withdraw`."""
        self._client.delete(f"/v1/sync-sources/{quote(name, '')}")

    def sync(self, name: str) -> SyncSource:
        """See `Syncing.sync`."""
        found = self._client.post(f"/v1/sync-sources/{quote(name, '')}/syncs", None)
        return SyncSource.model_validate(found)

    def syncs(self, name: str, *, limit: int = 20) -> list[Synced]:
        """See `Syncing.syncs`."""
        found = self._client.get(f"/v1/sync-sources/{quote(name, '')}/syncs", limit=limit)
        return [Synced.model_validate(each) for each in found]
