import threading

import pytest
from sqlalchemy import text

from services.kit.sql.database import Database, DatabaseUnavailableError


def scalar(database, statement):
    with database.session() as session:
        return session.execute(text(statement)).scalar()


def test_a_file_is_opened_with_the_log_ahead_synced_and_keys_enforced(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'deep' / 'x.db'}")
    assert scalar(database, "PRAGMA journal_mode") == "wal"
    assert scalar(database, "PRAGMA synchronous") == 2
    assert scalar(database, "PRAGMA foreign_keys") == 1
    assert scalar(database, "PRAGMA busy_timeout") == 10_000


def insert_and_raise(database):
    with database.session() as session:
        session.execute(text("INSERT INTO t VALUES (1)"))
        raise RuntimeError


def test_a_block_that_raises_leaves_nothing_behind():
    database = Database.memory()
    with database.session() as session:
        session.execute(text("CREATE TABLE t (n int)"))
    with pytest.raises(RuntimeError):
        insert_and_raise(database)
    assert scalar(database, "SELECT count(*) FROM t") == 0


def test_threads_that_write_at_once_wait_for_each_other():
    database = Database.memory()
    with database.session() as session:
        session.execute(text("CREATE TABLE t (n int)"))

    def write():
        for _ in range(20):
            with database.session() as session:
                session.execute(text("INSERT INTO t VALUES (1)"))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scalar(database, "SELECT count(*) FROM t") == 80


def test_a_database_that_is_not_there_is_unavailable():
    database = Database("postgresql://nobody:x@127.0.0.1:1/none")
    with pytest.raises(DatabaseUnavailableError):
        database.check()
    with pytest.raises(DatabaseUnavailableError), database.session() as session:
        session.execute(text("SELECT 1"))


@pytest.mark.usefixtures("really_migrated")
def test_migrating_twice_changes_nothing(tmp_path):
    url = f"sqlite:///{tmp_path / 'x.db'}"
    for _ in range(2):
        database = Database(url)
        database.migrate("kit")
        assert scalar(database, "SELECT version_num FROM alembic_kit") == "0007"
        database.close()
