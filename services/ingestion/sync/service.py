"""Synced sources: declared, fetched when they are due, and ingested as jobs."""

import json
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import SplitResult, urlsplit
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.syncing import Synced, SyncRequest, SyncSource
from services.ingestion.jobs import sync_records
from services.ingestion.jobs.service import JobService, PathNotAllowedError
from services.ingestion.settings import SyncSettings
from services.ingestion.sync.repository import FetchError, check_path, fetch
from services.ingestion.tables import SyncRow, SyncSourceRow
from services.kit.access.audit import add_audit
from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.guard import EgressGuard, OutgoingRequest
from services.kit.errors import InvalidInputError, NotFoundError
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database

RUN_SYNC = "ingestion_sync.sync"
DUE_EVERY_S = 20.0

_GUARD_TIMEOUT_S = 10.0


class SourceNotFoundError(NotFoundError):
    """No source of this name is declared."""


class PlaceNotAllowedError(InvalidInputError):
    """The source's address or folder is not allowed to be synced."""


class SyncService:
    """See `contracts.syncing.Syncing`. Only one sync of a source goes on, over all processes."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        ingestion: JobService,
        *,
        folder: Path,
        settings: SyncSettings,
    ) -> None:
        """Keep the fetched repositories in `folder`."""
        self._database = database
        self._outbox = outbox
        self._jobs = ingestion
        self._folder = folder.resolve()
        self._settings = settings

    def declare(self, request: SyncRequest) -> SyncSource:
        """See `Syncing.declare`."""
        self._check(request)
        row = SyncSourceRow(
            **request.model_dump(), next_at=datetime.now(UTC), failures=0, commit_id=""
        )
        with self._database.session() as session:
            session.merge(row)
            details = request.model_dump(exclude={"name"})
            add_audit(session, "source.declared", request.name, after=details)
        return self._shown(request.name)

    def sources(self) -> list[SyncSource]:
        """See `Syncing.sources`."""
        with self._database.session() as session:
            names = session.scalars(select(SyncSourceRow.name).order_by(SyncSourceRow.name)).all()
        return [self._shown(name) for name in names]

    def withdraw(self, name: str) -> None:
        """See `Syncing.withdraw`."""
        with self._database.session() as session:
            session.delete(_row(session, name))
            add_audit(session, "source.withdrawn", name)
        shutil.rmtree(self._repository(name), ignore_errors=True)

    def sync(self, name: str) -> SyncSource:
        """See `Syncing.sync`."""
        with self._database.session() as session:
            self._queue(session, _row(session, name))
        return self._shown(name)

    def syncs(self, name: str, *, limit: int = 20) -> list[Synced]:
        """See `Syncing.syncs`."""
        with self._database.session() as session:
            _row(session, name)
            rows = sync_records.latest(session, name, limit)
            return [sync_records.synced(session, sync) for sync in rows]

    def queue_due(self) -> None:
        """Queue the syncs that are due; several processes may do so."""
        due = select(SyncSourceRow).where(SyncSourceRow.next_at <= datetime.now(UTC))
        with self._database.session() as session:
            for row in session.scalars(due).all():
                self._queue(session, row)

    def run(self, sync_id: str) -> None:
        """Run a queued sync: fetch, then hand over to a job, both at most once."""
        with self._database.session() as session:
            sync = session.get(SyncRow, sync_id)
            source = session.get(SyncSourceRow, sync.source) if sync else None
        if source is None:  # withdrawn meanwhile
            with self._database.session() as session:
                self._outbox.finish(session)
            return
        path, commit, failure = Path(source.location), "", ""
        try:
            self._check(_request(source))
            if is_repository(source.location):
                folder = self._repository(source.name)
                commit = fetch(source.location, source.branch, folder, self._settings)
                path = folder / source.subfolder
        except (FetchError, PlaceNotAllowedError, PathNotAllowedError) as error:
            failure = str(error)
        with self._database.session() as session:
            if failure:
                self.park(session, {"sync_id": sync_id}, failure)
                self._outbox.finish(session)
                return
            sync = session.get_one(SyncRow, sync_id)
            sync.commit_after = commit
            sync.job_id = self._jobs.queue_path(session, path)
            self._outbox.finish(session)

    def park(self, session: Session, arguments: Mapping[str, Any], reason: str) -> None:
        """Mark a sync as failed: it cannot be fetched, or the queue gives it up."""
        sync = session.get(SyncRow, str(arguments["sync_id"]))
        if sync is not None:
            sync_records.end(
                session, self._outbox, sync, sync_records.FAILED, reason, notifies=self._notifies
            )

    def notify(self, sync_id: str) -> None:
        """Send a queued notification of what a sync did to the callback address.

        Raises:
            NotDeliveredError: It was not accepted; to be tried again.
        """
        with self._database.session() as session:
            sync = session.get(SyncRow, sync_id)
            synced = sync_records.synced(session, sync) if sync else None
        if synced is not None and self._notifies:
            body = json.dumps({"event": "sync", "sync": synced.model_dump(mode="json")}).encode()
            headers = {"content-type": "application/json"}
            request = OutgoingRequest(str(self._settings.callback_url), headers, body)
            secret = self._settings.callback_secret.get_secret_value()
            self._guard.send(request.signed(secret))
        with self._database.session() as session:
            row = session.get(SyncRow, sync_id)
            if row is not None:
                row.told = self._notifies
            self._outbox.finish(session)

    @property
    def _notifies(self) -> bool:
        return self._settings.callback_url is not None

    @cached_property
    def _guard(self) -> EgressGuard:
        return EgressGuard(
            self._settings.allowed_hosts,
            allow_private=self._settings.allow_private,
            timeout_s=_GUARD_TIMEOUT_S,
            setting="FLOWXPERT_SYNC_ALLOWED_HOSTS",
        )

    def _queue(self, session: Session, source: SyncSourceRow) -> None:
        if sync_records.running_sync(session, SyncRow.source == source.name) is not None:
            return
        sync = SyncRow(
            id=str(uuid4()),
            source=source.name,
            status=sync_records.RUNNING,
            began_at=datetime.now(UTC),
            commit_before=source.commit_id,
            told=False,
        )
        # The key lets one of several processes win.
        key = f"{RUN_SYNC}:{source.name}:{source.next_at.timestamp()}"
        if self._outbox.put(session, RUN_SYNC, {"sync_id": sync.id}, key=key):
            session.add(sync)

    def _check(self, request: SyncRequest) -> None:
        """Check before each sync that it may be read, since the settings may have changed.

        Raises:
            PlaceNotAllowedError: It may not.
        """
        parts = urlsplit(request.location) if is_repository(request.location) else None
        subfolder = PurePosixPath(request.subfolder)
        if subfolder.is_absolute() or ".." in subfolder.parts:
            raise PlaceNotAllowedError(f"expected a folder within it, got {request.subfolder!r}")
        if parts is not None:
            self._check_form(request.location, parts)
        if parts is None or parts.scheme == "file":
            self._jobs.allowed_path(parts.path if parts else request.location)
            return
        if parts.username is not None or parts.password is not None:
            raise PlaceNotAllowedError(
                "an address holds no credentials: set FLOWXPERT_SYNC_CREDENTIALS"
            )
        try:
            check_path(request.location)
            self._guard.check(request.location)
        except ForbiddenAddressError as error:
            raise PlaceNotAllowedError(str(error)) from error

    @staticmethod
    def _check_form(location: str, parts: SplitResult) -> None:
        """Check that this is the address of a repository that can be fetched at all."""
        if not location.isascii() or not location.isprintable() or " " in location:
            raise PlaceNotAllowedError("an address holds printable ASCII without spaces alone")
        if parts.scheme not in {"https", "http", "file"}:
            raise PlaceNotAllowedError(
                f"expected an address of https, or of file, got {parts.scheme!a}"
            )
        if parts.scheme == "file" and parts.netloc:
            raise PlaceNotAllowedError("file: names a folder of this machine: file:///…")
        if parts.query or parts.fragment:
            raise PlaceNotAllowedError("an address ends with the repository: no `?` and no `#`")

    def _repository(self, name: str) -> Path:
        return self._folder / f"{name}.git"

    def _shown(self, name: str) -> SyncSource:
        with self._database.session() as session:
            row = _row(session, name)
            newest = sync_records.latest(session, name, 1)
            is_git = is_repository(row.location)
            root = self._repository(name) / row.subfolder if is_git else Path(row.location)
            return SyncSource(
                **_request(row).model_dump(),
                root=str(root),
                next_at=row.next_at,
                failures=row.failures,
                last=sync_records.synced(session, newest[0]) if newest else None,
            )


def is_repository(location: str) -> bool:
    """Return True if this names a Git repository, not a folder."""
    return "://" in location


def _row(session: Session, name: str) -> SyncSourceRow:
    row = session.get(SyncSourceRow, name)
    if row is None:
        raise SourceNotFoundError(f"no source has the name {name!r}")
    return row


def _request(row: SyncSourceRow) -> SyncRequest:
    return SyncRequest(
        name=row.name,
        location=row.location,
        branch=row.branch,
        subfolder=row.subfolder,
        every_minutes=row.every_minutes,
    )
