"""What owners say of boxes teaches which form is a step, once their later words favour it."""

import random

import pytest

from services.kit.fits.in_use import Fits, FitState
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.page.box_fit import AS_SHIPPED, BoxHabit
from services.knowledge.page.boxes import candidates, find_boxes
from services.knowledge.page.parsing import parse_page
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.learning.box_lessons import BoxLessons, judged_blocks
from services.learning.service import SiteLearning
from services.runbook.store.sql_boxes import SqlBoxStore
from tests.unit.learning.box_pages import at_random, notes_are_no_steps, page_with_notes


@pytest.fixture
def database():
    database = Database.memory()
    for room in ("kit", "knowledge", "procedure", "gateway"):
        database.migrate(room)
    yield database
    database.close()


@pytest.fixture
def say(database):
    """Stores a page, and words on its blocks."""
    documents, boxes = SqlDocumentStore(database), SqlBoxStore(database)

    def say(number, text, words, owners=("ada", "bea")):
        id_ = f"page-{number:03}.md"
        documents.put(
            ScreenedDocument(Document(id=id_, title=id_, text=text, content_hash=str(number)))
        )
        for key, is_step in words.items():
            boxes.put(id_, key, is_step=is_step, who=owners[number % len(owners)])
        return id_

    return say


def run(database):
    return next(each for each in SiteLearning.of(database).run() if each.name == "boxes")


def say_of_notes(say, first, last, *owners, seed=1):
    rng = random.Random(seed)
    pages = [page_with_notes(rng, number) for number in range(last)]
    for number, text in list(enumerate(pages))[first:]:
        say(number, text, notes_are_no_steps(text), owners or ("ada", "bea"))


def shown(text, habit, corrections=AS_SHIPPED):
    return [box.block.text for box in find_boxes(parse_page(text), corrections, habit=habit)]


def test_a_teams_habit_serves_once_later_words_favour_it(database, say):
    say_of_notes(say, 0, 14)
    assert run(database).shadow is not None
    assert SqlBoxStore(database).habit() == {}, "too few later words"

    say_of_notes(say, 14, 40)
    progress = run(database)
    assert progress.happened.startswith("taken"), progress.happened
    assert progress.serving.basis["low"] > 0
    habit = SqlBoxStore(database).habit()
    new = page_with_notes(random.Random(77), 400)
    before, after = shown(new, AS_SHIPPED), shown(new, habit)
    assert any(each.startswith("Note:") for each in before)
    assert after == [each for each in before if not each.startswith("Note:")]


@pytest.mark.parametrize(
    "owners", [("ada",), ("key bot", "key bot-2", "api key"), (*["eve"] * 39, "ada")]
)
def test_one_owner_alone_teaches_nobody_else(database, say, owners):
    say_of_notes(say, 0, 40, *owners)
    progress = run(database)
    assert progress.serving is None
    assert "others have yet to agree" in progress.happened


def test_whoever_sits_at_the_machine_teaches_it_alone(database, say):
    say_of_notes(say, 0, 40, "local")
    assert run(database).happened.startswith("taken")


def test_an_owners_word_stands_above_what_was_learned(database, say):
    say_of_notes(say, 0, 40)
    run(database)
    habit = SqlBoxStore(database).habit()
    text = page_with_notes(random.Random(77), 400)
    note = next(
        place.block for place in candidates(parse_page(text)) if place.block.text[:5] == "Note:"
    )
    assert note.text not in shown(text, habit)
    assert note.text in shown(text, habit, {note.key: True})


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_words_at_random_teach_nothing_that_serves(database, say, share, seed):
    rng = random.Random(seed)
    for number in range(50):
        text = page_with_notes(rng, number)
        say(number, text, at_random(rng, text, share))
    assert run(database).lessons > 30
    assert run(database).serving is None


def test_what_an_owner_left_as_it_was_counts_as_agreed(database, say):
    text = "# Pump\n\n- Vent the loop.\n- Close valve 4.\n- Open valve 5.\n"
    blocks = judged_blocks(parse_page(text), AS_SHIPPED)
    vent, close, open_ = blocks
    assert all(block.is_step for block in blocks.values())
    id_ = say(1, text, {vent: False, close: False})
    first, second = BoxLessons(database).all()
    assert {first.source_id, second.source_id} == {f"{id_}#{vent}", f"{id_}#{close}"}
    assert not first.block.is_step
    assert first.agreed == second.agreed == (blocks[open_],)
    assert (first.share, first.kind) == (0.5, second.kind)


def test_a_word_whose_block_is_gone_and_a_page_that_nobody_spoke_of_teach_nothing(database, say):
    say(1, "# Pump\n\n- Vent the loop.\n", {"gone": False})
    say(2, "# Fan\n\n- Seat the fan.\n", {})
    assert BoxLessons(database).all() == []


def test_a_word_that_is_taken_back_is_forgotten_by_what_was_learned(database, say):
    say_of_notes(say, 0, 40)
    learned = run(database).serving.basis["sources"]
    document, _, key = learned[0].partition("#")
    SqlBoxStore(database).put(document, key, is_step=None, who="ada")
    progress = run(database)
    assert "made anew without 1" in progress.happened
    assert progress.serving.basis["sources"] == learned[1:]


def test_what_serves_goes_back_to_what_is_shipped(database, say):
    say_of_notes(say, 0, 40)
    run(database)
    assert SiteLearning.of(database).rollback("boxes") is None
    assert Fits(database).in_state("boxes", FitState.SERVING) is None
    assert SqlBoxStore(database).habit() == {}


def test_shipped_numbers_change_nothing():
    assert BoxHabit.shipped().habit == {}
