"""The beginning of an id stands for it as long as no other id begins so."""

import pytest

from services.kit.sql.database import Database
from services.kit.sql.short_ids import AmbiguousIdError, get_by_short_id
from services.kit.tables import OutboxRow


@pytest.fixture
def find():
    database = Database.memory()
    database.migrate("kit")

    def find(short_id, ids):
        with database.session() as session:
            session.query(OutboxRow).delete()
            session.add_all(
                OutboxRow(key=id_, task="t", kwargs={}, created_at=0, due_at=0) for id_ in ids
            )
            session.flush()
            row = get_by_short_id(session, OutboxRow, short_id)
            return row.key if row is not None else None

    yield find
    database.close()


@pytest.mark.parametrize("short_id", ["01a2", "01A2", "01a2-3", "01a2-", "01a2-3456"])
def test_the_beginning_of_one_id_is_enough(find, short_id):
    assert find(short_id, ["01a1-3456", "01a2-3456", "01a3-3456"]) == "01a2-3456"


@pytest.mark.parametrize("short_id", ["01a", "", "01a4", "1a2", "%1a2", "01a2\x00", "zzzz"])
def test_what_is_too_short_or_begins_none_finds_none(find, short_id):
    assert find(short_id, ["01a2-3456"]) is None


def test_a_whole_id_comes_before_those_that_begin_with_it(find):
    assert find("01a2", ["01a2", "01a2-3456"]) == "01a2"


def test_an_ambiguous_beginning_lists_ten_of_those_it_may_be(find):
    ids = [f"01a2-{number:04}" for number in range(12)]
    with pytest.raises(AmbiguousIdError) as refused:
        find("01a2", ids)
    assert refused.value.status_code == 409
    assert str(refused.value) == f"'01a2' is ambiguous: {', '.join(ids[:10])} and more"
