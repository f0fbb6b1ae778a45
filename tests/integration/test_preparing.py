"""Pages are prepared beside the work, in one process and in a process of the scorer's own."""

import pytest

from services.deployment.embedded import Embedded
from services.deployment.process import ServiceProcess
from services.deployment.rooms import SCORER
from services.kit.settings import PlatformSettings
from services.knowledge.model import Document
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.runbook.model import Reader
from services.runbook.store.sql_readings import SqlReadingStore
from services.runbook.store.sql_scoring import SqlPreparedStore
from services.scorer import score_cache
from tests.readings import drawn_reading
from tests.unit.runbook.programs import ask, do
from tests.waiting import eventually

TEXT = "# Fan\n\n## Remedy\n\n1. Reseat the tray.\n2. If it stays red, replace the tray.\n"


@pytest.mark.parametrize("alone", [True, False], ids=["embedded", "platform"])
def test_what_is_read_is_prepared_beside_the_work(monkeypatch, tmp_path, alone):
    monkeypatch.setattr(score_cache, "EVERY_S", 0.3)
    settings = PlatformSettings(
        _env_file=None,
        data_dir=tmp_path,
        port=0,
        database_url=f"sqlite:///{tmp_path / 'shared.db'}",
    )
    process = Embedded(settings) if alone else ServiceProcess(SCORER, settings)
    with process:
        database = process._stores.database
        reading = drawn_reading(
            "Fan",
            do("Reseat the tray", 5),
            ask("Does it stay red?", do("Replace the tray", 6), at=[[6, 6]]),
            reader=Reader.MODEL,
        )
        key = hash_of(TEXT)
        SqlDocumentStore(database).put(
            ScreenedDocument(Document(id="fan.md", title="Fan", text=TEXT, content_hash=key))
        )
        SqlReadingStore(database).put(key, reading)
        store, version = SqlPreparedStore(database), "0" * 16
        (seen_at,) = store.waiting(version, 10).values()
        process.start()
        scorer = process.scorer if alone else process._opened.service
        eventually(lambda: not store.waiting(scorer.prepared.version, 10))
        assert store.waiting(version, 10) == {key: seen_at}
