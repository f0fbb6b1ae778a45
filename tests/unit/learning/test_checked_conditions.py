"""What an approval says of the rules' reading: which of its conditions the person kept."""

import pytest

from services.contracts.adoption import Judgement
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.screening.document import hash_of
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.learning.checked_conditions import CheckedConditions
from services.learning.conditions import Conditions
from services.procedure.evidence.reliability import Reliability
from services.procedure.model import Choice
from services.procedure.rules import read_by_rules
from services.procedure.store.sql_readings import SqlReadingStore
from tests.unit.learning.lessons_made import counted

TEXT = """# Fan tray

## Remedy

1. Show the fans.
2. If the fan is absent:
   1. Seat the fan tray.
   2. Tighten the screws.
3. Write the shift log.
"""
KEY = hash_of(TEXT)


@pytest.fixture
def database():
    database = Database.memory()
    database.migrate("kit", "knowledge", "procedure")
    SqlDocumentStore(database).put(Document(id="fan.md", title="Fan", text=TEXT, content_hash=KEY))
    yield database
    database.close()


@pytest.fixture
def approve(database):
    store, reading = SqlReadingStore(database), read_by_rules(TEXT)

    def approve(*procedures):
        store.put(KEY, reading)
        store.approve(KEY, procedures or reading.procedures, who="ola")

    return approve


def told(database):
    return CheckedConditions(database).all()


def unguarded(procedure):
    """The same without its question: what stood under it is done in any case."""
    body = [
        node
        for each in procedure.body
        for node in (each.arms[0].body if isinstance(each, Choice) else (each,))
    ]
    return procedure.model_copy(update={"body": tuple(body)})


def test_a_page_that_was_approved_as_it_was_read_has_all_its_conditions(database, approve):
    approve()
    found = told(database)
    assert len(found) >= 4
    assert all(each.is_right for each in found)
    assert {each.said for each in found} == {Judgement.ACCEPTED}
    assert {(each.source_id, each.said_by) for each in found} == {(KEY, "ola")}


def test_conditions_that_a_person_took_out_are_wrong(database, approve):
    (procedure,) = read_by_rules(TEXT).procedures
    approve(unguarded(procedure))
    found = told(database)
    assert {each.is_right for each in found} == {True, False}
    assert {each.said for each in found} == {Judgement.REJECTED}


def test_pages_that_nobody_approved_teach_nothing(database):
    SqlReadingStore(database).put(KEY, read_by_rules(TEXT))
    assert told(database) == []


def test_a_page_that_is_gone_is_forgotten(database, approve):
    approve()
    SqlDocumentStore(database).delete("fan.md")
    assert told(database) == []


def test_pages_whose_conditions_people_keep_are_doubted_less(database, approve):
    approve()
    kept = [each for each in told(database) for _ in range(30)]
    shipped = Reliability.shipped()
    learned = Conditions().learn(shipped, counted(kept))
    assert learned.of(0.5) > 0.6
    assert shipped.of(0.3) == pytest.approx(0.3)
    assert Conditions().foretold(learned, kept[0]) > Conditions().foretold(shipped, kept[0])
