"""Backup of the whole platform into one file, while it runs.

The tables are read in one snapshot. What can be made of them again is not copied: vectors and the
graph of the documents; the vectors' cache is, so that making them again takes no model. Past
tickets of a graph server are read through its port.
"""

import os
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import Connection

from services.deployment.operations.archive import BackupWriter, Manifest
from services.deployment.operations.sql_dump import lines_of, tables_of
from services.ingestion.settings import IngestionSettings
from services.kit.errors import InvalidInputError
from services.kit.files import scratch_beside
from services.kit.fits.fitted import FOLDER
from services.kit.migrations import refuse_unfinished_restore, revisions_of
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.room.open_stores import open_graph

CASES = "graph/cases.jsonl"
CACHE = "vectors.db"
TABLES, FILES, WORK = "tables/", "files/", "work/"
"""Prefixes of streams: tables, files in the data folder, files in a working folder elsewhere."""
ALL_CASES = 10_000_000
_NOTHING = "{} holds no platform: name the data folder, or set the variables that the platform has"

OnPart = Callable[[str], None]


class TargetExistsError(InvalidInputError):
    """A file of this name is there; it is never written over."""


class UnusableTargetError(InvalidInputError):
    """No file can be made there."""


class NothingToBackUpError(InvalidInputError):
    """No platform keeps anything where the settings point to."""


def back_up(settings: PlatformSettings, path: Path, on_part: OnPart) -> Manifest:
    """Write the backup; it appears under its name once complete, readable by its owner only.

    Raises:
        TargetExistsError: Something of this name is there.
        UnusableTargetError: No file can be made there.
        NothingToBackUpError: There is no platform.
        UnavailableError: A store did not answer.
    """
    if path.exists():
        raise TargetExistsError(f"{path} is there: name another file")
    if not path.parent.is_dir():
        raise UnusableTargetError(f"there is no folder {path.parent}: make it first")
    if settings.database_url is None and not (settings.data_dir / "flowxpert.db").exists():
        raise NothingToBackUpError(_NOTHING.format(settings.data_dir))
    with ExitStack() as opened:
        try:
            scratch = opened.enter_context(scratch_beside(path))
            private = os.open(scratch / path.name, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError as error:
            raise UnusableTargetError(
                f"nothing can be written to {path.parent}: {error}"
            ) from error
        with (
            os.fdopen(private, "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
        ):
            manifest = _write(settings, BackupWriter(archive), on_part, scratch, opened)
        (scratch / path.name).rename(path)
    return manifest


def _write(
    settings: PlatformSettings,
    writer: BackupWriter,
    on_part: OnPart,
    scratch: Path,
    opened: ExitStack,
) -> Manifest:
    database = Database(settings.resolved_database_url)
    opened.callback(database.close)
    with database.engine.connect() as connection:
        refuse_unfinished_restore(connection)
        if not revisions_of(connection):
            raise NothingToBackUpError(_NOTHING.format("the database"))
    past = open_graph(settings, database, opened).cases(ALL_CASES)
    cases = writer.add_lines(CASES, (each.model_dump_json().encode() + b"\n" for each in past))
    on_part(CASES)
    with database.engine.connect() as connection:
        _snapshot(connection)
        revisions = revisions_of(connection)
        for table in tables_of(connection):
            writer.add_lines(f"{TABLES}{table.name}.jsonl", lines_of(connection, table))
            on_part(table.name)
    for name, file in _files(settings.data_dir, IngestionSettings().work_dir):
        writer.add_file(name, file)
    _add_cache(settings.resolved_embedding_cache, writer, scratch)
    on_part(CACHE)
    kept = writer.parts.get(f"{TABLES}knowledge_document.jsonl")
    return writer.finish(
        version("flowxpert"), revisions, documents=kept.rows if kept else 0, cases=cases
    )


def _snapshot(connection: Connection) -> None:
    """Let the connection see one state from here on; a SQLite transaction does so anyway."""
    if connection.dialect.name == "sqlite":
        connection.connection.driver_connection.isolation_level = None  # type: ignore[union-attr]
        connection.exec_driver_sql("BEGIN")
    else:
        connection.execution_options(isolation_level="REPEATABLE READ")


def _files(data_dir: Path, work_dir: Path | None) -> Iterator[tuple[str, Path]]:
    """Yield uploads and fitted parameters: the only files that cannot be made again."""
    data_dir = data_dir.resolve()
    work_dir = work_dir.resolve() if work_dir else data_dir
    files = {file for folder in data_dir.rglob("uploads") for file in folder.rglob("*")}
    files.update((work_dir / "uploads").rglob("*"))
    files.update((data_dir / FOLDER).glob("*.json"))
    for file in sorted(files):
        if not file.is_file():
            continue
        if file.is_relative_to(data_dir):
            yield f"{FILES}{file.relative_to(data_dir).as_posix()}", file
        else:
            yield f"{WORK}{file.relative_to(work_dir).as_posix()}", file


def _add_cache(path: Path, writer: BackupWriter, scratch: Path) -> None:
    """Add a consistent copy of the cache, even while it is being written."""
    if not path.exists():
        return
    copy = scratch / CACHE
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    writer.add_file(CACHE, copy)
