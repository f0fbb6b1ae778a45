"""Restore of a backup into the stores that the settings name, whichever engines they are.

Tables are made as they were when the backup was written, filled, and then migrated; vectors and the
graph are made again from them. Nothing else may run meanwhile.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sqlalchemy import MetaData, delete, func, literal, select, update

from services.deployment.embedded import Embedded
from services.deployment.operations.archive import BackupReader, Manifest, UnusableBackupError
from services.deployment.operations.backup import CACHE, CASES, FILES, TABLES, WORK
from services.deployment.operations.sql_dump import count, load, tables_of
from services.ingestion.settings import IngestionSettings
from services.ingestion.tables import IngestedRow, JobRow, OwnerRow
from services.kit.batches import batches
from services.kit.data_dir import own_data_dir
from services.kit.errors import ConflictError
from services.kit.migrations import (
    RELEASE_BEFORE,
    ROOMS,
    OutdatedRevisionError,
    UnknownRevisionError,
    check_revisions,
    mark_restore,
    mark_restored,
    revisions_of,
    room_tables,
    upgrade,
)
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.tables import SessionRow, SignInRow
from services.knowledge.model import Case

OnPart = Callable[[str], None]

_CASES_AT_ONCE = 500
_UPLOADS = "uploads"
_OF_SERVICE = ("ingestion", _UPLOADS)


class NotEmptyError(ConflictError):
    """The platform holds data already."""


def restore(settings: PlatformSettings, path: Path, on_part: OnPart, *, replace: bool) -> Manifest:
    """Restore everything; nothing is changed before the whole file has been checked.

    Raises:
        UnusableBackupError: It is broken, newer or too old, or not what was counted.
        NotEmptyError: The platform holds something, and it is not to be replaced.
        UnavailableError: A store did not answer; call it again with `replace`.
    """
    with BackupReader(path) as reader:
        reader.check()
        _check_age(reader.manifest)
        with own_data_dir(settings.data_dir) as folder:
            elsewhere = any(name.startswith(WORK) for name in reader.manifest.parts)
            places = UploadPaths(folder, IngestionSettings().work_dir, elsewhere)
            database = Database(settings.resolved_database_url)
            try:
                _fill(database, reader, on_part, replace=replace)
                _move_uploads(database, places)
                _restore_files(reader, places, settings.resolved_embedding_cache)
                with database.engine.begin() as connection:
                    mark_restored(connection)
            finally:
                database.close()
        with Embedded(settings) as platform:
            on_part("vectors and graph")
            documents = platform.ingestion.reindex()
            for cases in batches(map(Case.model_validate, reader.messages(CASES)), _CASES_AT_ONCE):
                platform.graph.put_cases(cases)
        if documents > reader.manifest.documents:
            raise UnusableBackupError(
                f"{reader.manifest.documents} documents were expected, {documents} came"
            )
        return reader.manifest


def _check_age(manifest: Manifest) -> None:
    try:
        check_revisions(manifest.revisions)
    except UnknownRevisionError as error:
        raise UnusableBackupError(f"a newer FlowXpert made this backup: {error}") from error
    except OutdatedRevisionError as error:
        raise UnusableBackupError(
            f"an older FlowXpert made this backup: restore it with release {RELEASE_BEFORE}, "
            "start that once, and make a new one"
        ) from error


def _fill(database: Database, reader: BackupReader, on_part: OnPart, *, replace: bool) -> None:
    with database.engine.connect() as connection:
        is_filled = revisions_of(connection) and any(
            count(connection, table) for table in tables_of(connection)
        )
    if is_filled and not replace:
        raise NotEmptyError("the platform is not empty: --replace puts the backup in its place")
    with database.engine.begin() as connection:
        mark_restore(connection)
    _drop_all(database)
    for room, revision in reader.manifest.revisions.items():
        upgrade(database, room, revision)
    with database.engine.begin() as connection:
        for table in tables_of(connection):
            name = f"{TABLES}{table.name}.jsonl"
            part = reader.manifest.parts.get(name)
            if part is None:
                continue
            if load(connection, table, reader.lines(name)) != count(connection, table):
                raise UnusableBackupError(f"the table {table.name} was not filled")
            if count(connection, table) != part.rows:
                raise UnusableBackupError(f"{table.name}: {part.rows} rows were expected")
            on_part(table.name)
    for room in ROOMS:
        upgrade(database, room)
    with database.session() as session:  # what was ended since does not come back
        session.execute(delete(SessionRow))
        session.execute(delete(SignInRow))


def _drop_all(database: Database) -> None:
    with database.engine.begin() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        own_tables = {f"alembic_{room}" for room in ROOMS} | {
            each.name for each in room_tables("kit")
        }
        ours = [
            table
            for table in metadata.tables.values()
            if table.name in own_tables or table.name.partition("_")[0] in ROOMS
        ]
        metadata.drop_all(connection, tables=ours)
        if connection.dialect.name != "sqlite":
            # What keeps the audit log from being changed stays where its table goes.
            connection.exec_driver_sql("DROP FUNCTION IF EXISTS audit_is_append_only()")


@dataclass(frozen=True)
class UploadPaths:
    """Upload folders of the platform that is being restored."""

    data_dir: Path
    work_dir: Path | None
    """The working folder as configured."""
    from_elsewhere: bool = False
    """True if the backup's uploads were in a working folder outside the data folder."""

    def root_for(self, before: str) -> Path:
        """Return the upload folder that replaces the one in the backup."""
        if self.work_dir is not None:
            return self.work_dir.resolve() / _UPLOADS
        # Services of their own keep them in a folder of ingestion's.
        is_of_service = PurePosixPath(before).parts[-2:] == _OF_SERVICE and not self.from_elsewhere
        return self.data_dir.joinpath(*_OF_SERVICE if is_of_service else (_UPLOADS,))

    def path_for(self, name: str) -> Path:
        """Return the path to which a file of the backup is restored.

        Raises:
            UnusableBackupError: Out of the folders.
        """
        relative = PurePosixPath(name.partition("/")[2])
        if relative.is_absolute() or ".." in relative.parts:
            raise UnusableBackupError(f"{name!r} leads out of the data folder")
        if self.work_dir is None or _UPLOADS not in relative.parts:
            return self.data_dir / relative
        after = relative.parts.index(_UPLOADS) + 1
        return self.work_dir.resolve().joinpath(_UPLOADS, *relative.parts[after:])


def _move_uploads(database: Database, places: UploadPaths) -> None:
    """Rewrite the paths of uploads to the upload folder of this platform."""
    uploaded = select(JobRow.source).where(JobRow.is_upload.is_(True)).distinct()
    with database.session() as session:
        for old in session.scalars(uploaded).all():
            new = str(places.root_for(old))
            if new == old:
                continue
            below = literal(new) + func.substr(JobRow.path, len(old) + 1)
            jobs = update(JobRow).where(JobRow.source == old)
            session.execute(jobs.values(source=new, path=below))
            documents = update(IngestedRow).where(IngestedRow.source == old)
            session.execute(documents.values(source=new))
            session.execute(update(OwnerRow).where(OwnerRow.root == old).values(root=new))


def _restore_files(reader: BackupReader, places: UploadPaths, cache: Path) -> None:
    for name in reader.manifest.parts:
        if name == CACHE:
            for beside in ("", "-wal", "-shm"):
                cache.with_name(cache.name + beside).unlink(missing_ok=True)
            path = cache
        elif name.startswith((FILES, WORK)):
            path = places.path_for(name)
        else:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with reader.open(name) as stream, path.open("wb") as file:
            shutil.copyfileobj(stream, file)
