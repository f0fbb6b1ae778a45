from contextlib import ExitStack

import pytest

from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.stores.pgvector import NotPostgresError
from services.room.open_stores import MissingServerError, UnknownVectorStoreError, open_vectors


@pytest.fixture
def opened(tmp_path):
    with ExitStack() as closing:
        database = Database.memory()
        closing.callback(database.close)

        def vectors_of(*, shared=False, **fields):
            settings = PlatformSettings(_env_file=None, data_dir=tmp_path, **fields)
            return open_vectors(settings, database, 32, closing, shared=shared)

        yield vectors_of


def test_without_a_choice_vectors_are_in_the_data_folder(opened, tmp_path):
    assert opened().count("chunks") == 0
    assert (tmp_path / "vectors" / "chunks").is_dir()


def test_processes_are_refused_a_store_that_they_cannot_share(opened, tmp_path):
    with pytest.raises(MissingServerError, match=r"FLOWXPERT_VECTORS to one .*: qdrant, pgvector"):
        opened(shared=True)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_nobody_knows_is_refused_with_those_that_are_available(opened):
    with pytest.raises(UnknownVectorStoreError, match=r"'chroma'; known are qdrant-edge, qdrant"):
        opened(vectors="chroma")


def test_a_server_that_is_chosen_needs_its_address(opened):
    with pytest.raises(MissingServerError, match="set FLOWXPERT_QDRANT_URL"):
        opened(vectors="qdrant")


def test_vectors_in_postgres_are_refused_where_the_database_is_sqlite(opened):
    with pytest.raises(NotPostgresError, match="set FLOWXPERT_DATABASE_URL"):
        opened(vectors="pgvector")
