"""What people said of readings by rules comes to boxes or into a list, once, on each database."""

import pytest
from sqlalchemy import select

from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.procedure.doubt_answers import answered
from services.procedure.model import Answer, Doubt, DoubtKind, Reader, Reading
from services.procedure.ports import Happening, TicketDoubt
from services.procedure.store.sql_boxes import SqlBoxStore
from services.procedure.store.sql_readings import SqlReadingStore
from services.procedure.store.sql_retired import SqlRetiredReadings
from services.procedure.tables import ReadingRow
from services.procedure.ticket_doubts import doubt_id
from tests.contract.databases import database_of
from tests.readings import drawn_reading
from tests.unit.procedure.programs import do

TEXT = "f" * 64
PAGE = parse_page("# Fan\n\n1. Look at the tray.\n2. Seat it.\n3. Tell the shift.\n4. Close it.\n")
PAGES = {"fan.md": PAGE, "copy/fan.md": PAGE}
LOOK, SEAT, TELL, CLOSE = (place.block.key for place in candidates(PAGE))
STEPS = (do("Look at the tray", 3), do("Seat it", 4), do("Tell the shift", 5))
DRAWN = drawn_reading("Fan", *STEPS, reader=Reader.RULES).model_copy(
    update={
        "version": "17",
        "doubts": (
            Doubt(
                id="0-doubt-1",
                kind=DoubtKind.EXIT,
                node="",
                question="What follows a no?",
                answers=(Answer(text="It ends there"),),
            ),
        ),
    }
)


class House:
    def __init__(self, database):
        self.database = database
        self.store = SqlReadingStore(database)
        self.boxes = SqlBoxStore(database)
        self.retired = SqlRetiredReadings(database)
        self.boxes.forget(list(PAGES))
        self.store.put(TEXT, DRAWN)

    def person(self) -> Reading:
        """The reading as people had it in front of them: by rules, or as they had corrected it."""
        with self.database.session() as session:
            rows = session.scalars(select(ReadingRow).where(ReadingRow.text_hash == TEXT)).all()
            stored = {row.reader: Reading.model_validate(row.reading) for row in rows}
        return stored.get("person") or stored["rules"]

    def edit(self, *steps, detail, who="bea"):
        edited = drawn_reading("Fan", *steps).model_copy(update={"doubts": self.person().doubts})
        self.store.replace(TEXT, edited, who=who, what=Happening.REPLACED, detail=detail)

    def answer(self, doubt, number, reading=None):
        given = answered(reading or self.person(), doubt, number)
        detail = f"{doubt}: {number}"
        self.store.replace(TEXT, given, who="ann", what=Happening.ANSWERED, detail=detail)

    def said(self, what):
        return [(each.who, each.detail) for each in self.store.history(TEXT) if each.what is what]

    def left(self):
        return self.said(Happening.LEFT_OVER)


@pytest.fixture(params=["sqlite", "postgres"])
def house(request):
    with database_of(request.param) as database:
        yield House(database)


def test_a_step_taken_out_and_one_put_in_are_corrections_of_each_document_s_boxes(house):
    house.edit(STEPS[0], STEPS[1], detail="“Tell the shift” is deleted")
    house.edit(STEPS[0], STEPS[1], do("Close it", 6), detail="“Close it” is put in", who="ann")
    house.retired.retire(TEXT, PAGES)
    said = {TELL: False, CLOSE: True}
    assert house.boxes.corrections(list(PAGES)) == dict.fromkeys(PAGES, said)
    assert house.left() == []
    assert house.said(Happening.BOX_CORRECTED) == [
        ("ann", "“Close it” is a step (line 6)"),
        ("bea", "“Tell the shift” is no step (line 5)"),
    ]


def test_what_no_box_holds_is_listed_with_who_said_it(house):
    house.answer("0-doubt-1", 0)
    house.edit(STEPS[0], do("Seat it well", 4), STEPS[2], detail="“Seat it” reads “Seat it well”")
    house.edit(STEPS[0], STEPS[2], do("Both", 4, at=[[4, 5]]), detail="“Both” takes two lines")
    house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(list(PAGES)) == {}
    assert house.left() == [
        ("bea", "“Both” takes two lines"),
        ("bea", "“Seat it” reads “Seat it well”"),
        ("ann", "What follows a no? — It ends there"),
    ]


def test_an_answer_about_a_step_is_a_correction_and_an_open_doubt_is_listed(house):
    ids = [node.id for node in house.person().procedures[0].walk()]
    for step, node in (("s1", ids[0]), ("s2", ids[1]), ("s3", ids[2])):
        doubt = TicketDoubt(
            ticket="t", step=step, node=node, text=step, by="cay", at="2026-01-01T00:00:00Z"
        )
        house.store.doubt(TEXT, doubt)
    drawn = house.person()
    asked = Doubt(
        id=doubt_id(TicketDoubt(ticket="t", step="s1", text="", by="", at="2026-01-01T00:00:00Z")),
        kind=DoubtKind.STEP,
        node=ids[0],
        question="Is it right?",
        answers=(Answer(text="Leave it"), Answer(text="Take it out", replace=())),
        ticket="t",
    )
    with_both = drawn.model_copy(
        update={
            "doubts": (
                *drawn.doubts,
                asked,
                asked.model_copy(update={"id": "ticket:t:s2", "node": ids[1]}),
                asked.model_copy(update={"id": "ticket:t:s3", "node": ids[2]}),
            )
        }
    )
    house.answer("ticket:t:s1", 1, with_both)
    rest = house.person()
    left = with_both.doubts[2:]
    house.answer("ticket:t:s2", 0, rest.model_copy(update={"doubts": (*rest.doubts, *left)}))
    house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(["fan.md"]) == {"fan.md": {LOOK: False, SEAT: True}}
    assert [who for who, _ in house.left()] == ["cay"]


def test_a_reading_that_is_the_rules_but_for_corrections_is_served_no_more_and_comes_back(house):
    house.answer("0-doubt-1", 0)
    mine = house.person()
    house.retired.retire(TEXT, PAGES)
    assert house.store.served(TEXT) is None
    house.store.drop([TEXT])
    house.store.undo(TEXT, who="bea")
    assert house.store.served(TEXT).reading == mine


def test_what_was_approved_or_is_a_person_s_own_stays(house):
    house.answer("0-doubt-1", 0)
    house.store.approve(TEXT, house.person().procedures, who="bea")
    house.retired.retire(TEXT, PAGES)
    served = house.store.served(TEXT)
    assert served.approvals[0].by == "bea"
    assert house.left() == []
    house.store.delete([TEXT])
    house.store.put(TEXT, DRAWN)
    house.answer("0-doubt-1", 0)
    house.edit(*STEPS[:2], detail="")
    house.retired.retire(TEXT, PAGES)
    assert house.store.served(TEXT).reading.reader is Reader.PERSON
    assert house.boxes.corrections(list(PAGES)) == {}


def test_what_was_undone_is_not_said(house):
    house.edit(STEPS[0], STEPS[1], detail="“Tell the shift” is deleted")
    house.store.undo(TEXT, who="bea")
    house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(list(PAGES)) == {}


def test_it_is_done_once_and_nobody_s_later_word_is_overwritten(house):
    house.edit(STEPS[0], STEPS[1], detail="“Tell the shift” is deleted")
    house.boxes.put("fan.md", TELL, is_step=True, who="dee")
    assert house.retired.waiting() == [TEXT]
    house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(["fan.md"]) == {"fan.md": {TELL: True}}
    events = house.store.history(TEXT)
    assert house.retired.waiting() == []
    house.retired.retire(TEXT, PAGES)
    assert house.store.history(TEXT) == events


def test_what_a_killed_process_had_begun_is_done_whole_by_the_next(house, monkeypatch):
    house.edit(STEPS[0], STEPS[1], detail="“Tell the shift” is deleted")

    def killed(*_arguments, **_named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("services.procedure.store.one_text.OneText.done", killed)
        with pytest.raises(KeyboardInterrupt):
            house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(list(PAGES)) == {}
    assert house.retired.waiting() == [TEXT]
    house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(list(PAGES)) == {document: {TELL: False} for document in PAGES}


def test_answers_to_readings_of_others_are_theirs(house):
    house.store.put(TEXT, DRAWN.model_copy(update={"reader": Reader.MODEL, "model": "m"}))
    house.edit(STEPS[0], STEPS[1], detail="“Tell the shift” is deleted")
    house.retired.retire(TEXT, PAGES)
    assert house.boxes.corrections(list(PAGES)) == {}
    assert house.store.served(TEXT).reading.reader is Reader.PERSON
