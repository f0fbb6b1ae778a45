"""After the upgrade nothing is left of what rules read but what people approved of it."""

import pytest
from alembic import command
from sqlalchemy import delete, select, update

from services.kit.migrations import _config
from services.kit.sql.database import Database
from services.procedure.model import Reader, Reading
from services.procedure.ports import Happening, ReadingState, Wanted
from services.procedure.store.sql_readings import SqlReadingStore
from services.procedure.tables import ReadingRow, TextRow
from tests.postgres import postgres_url
from tests.readings import drawn_reading
from tests.unit.procedure.programs import do

pytestmark = pytest.mark.usefixtures("really_migrated")

ALONE, APPROVED, COMPOSED, READ, CORRECTED = (letter * 64 for letter in "abcde")
BY_RULES = drawn_reading("Fan", do("Look", 1), do("Seat", 2), reader=Reader.RULES)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    is_sqlite = request.param == "sqlite"
    database = Database.memory() if is_sqlite else Database(postgres_url())
    database.migrate("kit", "procedure")
    with database.session() as session:
        session.execute(delete(TextRow))
    yield database
    database.close()


def test_what_people_did_stays_and_compositions_have_a_reader(database):
    store = SqlReadingStore(database)
    for text_hash in (ALONE, APPROVED, READ, CORRECTED):
        store.put(text_hash, BY_RULES.model_copy(update={"version": "17"}))
    store.put(COMPOSED, BY_RULES.model_copy(update={"version": "rules"}))
    store.put(READ, BY_RULES.model_copy(update={"reader": Reader.MODEL}))
    store.approve(APPROVED, BY_RULES.procedures, who="ann")
    store.replace(CORRECTED, BY_RULES, who="ann", what=Happening.ANSWERED, detail="0-doubt-1: 0")
    with database.session() as session:  # as the release before told it
        session.execute(
            update(TextRow)
            .where(TextRow.text_hash.in_([ALONE, COMPOSED, APPROVED]))
            .values(reader="rules", procedures=1)
        )
    with database.engine.begin() as connection:
        command.downgrade(_config("procedure", connection), "0005")

    database.migrate("procedure")

    with database.session() as session:
        rows = session.execute(select(ReadingRow.text_hash, ReadingRow.reader)).tuples()
        assert {(row[0], row[1]) for row in rows} == {
            (COMPOSED, "composed"),
            (READ, "model"),
            (CORRECTED, "person"),
            (CORRECTED, "rules"),
        }, "what somebody corrected is kept until boxes have it"
    listed = {each.text_hash: each.reader for each in store.wanted(Wanted())}
    people = dict.fromkeys((APPROVED, CORRECTED), "person")
    assert listed == people | {COMPOSED: "composed", READ: "model"}
    served = store.served_many([ALONE, APPROVED, COMPOSED, READ])
    assert ALONE not in served
    assert served[APPROVED].state(0) is ReadingState.APPROVED
    assert served[APPROVED].reading.procedures == BY_RULES.procedures
    assert (served[COMPOSED].reading.reader, served[COMPOSED].reading.version) == ("composed", "")
    assert isinstance(served[READ].reading, Reading)
