import json

import pytest

from services.llm.scripted import ScriptedChatModel
from services.runbook.by_model.placement import LONGEST_NOTE, MOST_BLOCKS
from services.runbook.by_model.reader import ModelReader
from services.runbook.lowering import lower
from services.runbook.model import LeftOutReason
from tests.unit.runbook.programs import do

PAGE = """# Fan stands still

## Repair

1. Pull the tray.

> [!WARNING]
> Never pull two trays at once.

2. Seat the new tray.

   ```sh
   show fan --tray 2
   ```

| LED | Meaning |
|-----|---------|
| red | broken  |
"""


def program(*steps, left_out=()):
    return json.dumps(
        {"procedures": [{"title": "Fan", "steps": list(steps)}], "left_out": list(left_out)}
    )


BARE = program(do("Pull the tray", 5), do("Seat the new tray", 10))
WITH_IDS = program(do("Pull the tray", 5, id="pull"), do("Seat the new tray", 10, id="seat"))


def read(*answers, page=PAGE):
    model = ScriptedChatModel(list(answers))
    return ModelReader(model, samples=1, corrections=0).read(page), model


def notes(reading):
    return [step.notes for step in lower(reading.procedures[0], "page").steps]


def test_what_is_in_no_step_is_asked_for_once_and_placed():
    placed = [
        {"line": 7, "note_of": "pull"},
        {"line": 12, "step": "Look at the fan", "after": "seat"},
        {"line": 16, "left_out": "reference"},
    ]
    reading, model = read(WITH_IDS, json.dumps({"placed": placed}))
    (pull, seat, look) = reading.procedures[0].body
    assert [note.text for note in pull.notes] == ["Never pull two trays at once."]
    assert seat.notes == ()
    assert (look.text, look.commands) == ("Look at the fan", ("show fan --tray 2",))
    assert [each.reason for each in reading.left_out] == [LeftOutReason.REFERENCE]
    assert len(model.requests) == 2
    question = model.requests[1].messages[-1].content
    assert "pull [5-5] Pull the tray" in question
    assert "8 | > Never pull two trays at once." in question


@pytest.mark.parametrize(
    "answer",
    [
        "I do not know.",
        BARE,
        json.dumps({"placed": [{"line": 7, "note_of": "nowhere"}]}),
        json.dumps({"placed": [{"line": 9_999, "note_of": "pull"}]}),
        json.dumps({"placed": [{"line": n, "left_out": "not needed"} for n in (7, 12, 16)]}),
    ],
)
def test_what_is_still_in_no_step_hangs_at_the_step_above(answer):
    reading, _ = read(WITH_IDS, answer)
    pull, seat, *_ = notes(reading)
    assert pull == ("Never pull two trays at once.",)
    assert "LED: Meaning; red: broken" in seat
    assert reading.left_out == ()


def test_reasons_that_leave_out_most_of_the_page_are_not_believed():
    everything = [{"at": [[7, 18]], "why": "background"}]
    reading, _ = read(program(do("Pull the tray", 5), left_out=everything), "{}")
    assert "Seat the new tray." in " ".join(notes(reading)[0])
    assert reading.left_out == ()


def test_a_page_with_more_than_is_asked_for_loses_nothing():
    items = "\n".join(f"- Look at fan {n}." for n in range(MOST_BLOCKS + 20))
    page = f"# Fans\n\n## Repair\n\n- Pull the tray.\n{items}\n"
    reading, model = read(program(do("Pull the tray", 5)), "{}", page=page)
    assert model.requests[1].messages[-1].content.count("Look at fan") == MOST_BLOCKS
    assert len(notes(reading)[0]) == MOST_BLOCKS + 20


def test_a_long_block_is_cut_as_a_note():
    page = f"# Fans\n\n## Repair\n\n- Pull the tray.\n\n> [!WARNING]\n> {'far ' * 400}\n"
    reading, _ = read(program(do("Pull the tray", 5)), "{}", page=page)
    (note,) = notes(reading)[0]
    assert len(note) == LONGEST_NOTE


def noted(*texts, line=7):
    step = {
        **do("Pull the tray", 5),
        "notes": [{"note": t, "at": [[line, line + 1]]} for t in texts],
    }
    return program(step, do("Seat the new tray", 10))


def test_a_caution_that_was_turned_around_says_what_the_page_says():
    reading, _ = read(noted("Always pull two trays at once"), "{}")
    assert notes(reading)[0] == ("Never pull two trays at once.",)


def test_many_notes_of_one_callout_are_one():
    reading, _ = read(noted(*(f"Note {n}" for n in range(400))), "{}")
    assert notes(reading)[0] == ("Never pull two trays at once.",)


def test_a_step_that_its_lines_forbid_is_unsure():
    page = PAGE.replace("1. Pull the tray.", "1. Do not pull the tray by its cable.")
    reading, _ = read(BARE, "{}", page=page)
    assert reading.procedures[0].body[0].confidence < 0.6
    honest, _ = read(BARE.replace("Pull the tray", "Do not pull the tray"), "{}", page=page)
    assert honest.procedures[0].body[0].confidence == 1
