"""Changes at blocks of a page, as operations on its procedure."""

import random

import pytest

from services.knowledge.page.parsing import parse_page
from services.runbook.checking.check import check_reading
from services.runbook.checklist.build import reading_from_boxes
from services.runbook.editing.apply import apply
from services.runbook.editing.block_edits import (
    BLOCK_EDIT,
    AddOwnNote,
    AddOwnStep,
    GoOn,
    Join,
    ListMode,
    MoveStep,
    SetBox,
    SetCondition,
    SetEnd,
    SetList,
    SetNote,
    SetWords,
    Split,
)
from services.runbook.editing.block_operations import apply_block_edit, procedure_at, question_of
from services.runbook.editing.errors import (
    BlockNotFoundError,
    NothingChangedError,
    UnusableOperationError,
    WrongKindError,
)
from services.runbook.lowering import lower
from services.runbook.model import Choice, Do, End, Jump, Mode, Not, Reader, Reading
from services.workflow.lint import STRUCTURE_CHECKS, Severity, lint

TEXT = """\
# Fan

Check whether the fan spins.

- If it spins, leave it.
- Look at the LED

  ```sh
  show fan
  ```
- Reseat the fan.

> [!WARNING]
> Wear gloves.

Do one of the following:

- Replace the fan
- Replace the tray
- Call the vendor

The background is long.

Close the case.
"""
ASKS, LEAVE, LIGHT, RESEAT, GLOVES, LEAD, FAN, TRAY, VENDOR, BACKGROUND, CLOSE = (
    3, 5, 6, 11, 14, 16, 18, 19, 20, 22, 24,
)  # fmt: skip
"""First lines of the blocks."""
PAGE = parse_page(TEXT)
KEYS = {place.block.start_line: place.block.key for place in PAGE.places()}
BEGUN = reading_from_boxes(TEXT, "fan.md").procedures[0]


def changed(*edits, procedure=BEGUN):
    for edit in edits:
        procedure = apply(procedure, apply_block_edit(procedure, PAGE, edit))
    return procedure


def written(body):
    """The steps in order, with what they hang on."""
    lines = []
    for node in body:
        match node:
            case Do():
                lines.append(node.text)
            case Jump():
                lines.append("go on")
            case End():
                lines.append(f"end: {node.kind.value}")
            case Choice():
                for arm in node.arms:
                    guard = arm.guard.guard if isinstance(arm.guard, Not) else arm.guard
                    words = f"{'not ' if isinstance(arm.guard, Not) else ''}{guard and guard.text}"
                    lines.append(
                        {f"{node.mode.value}: {node.question or words}": written(arm.body)}
                    )
                if node.otherwise:
                    lines.append({"otherwise": written(node.otherwise)})
    return lines


def test_a_box_is_put_at_its_place_in_the_page_with_its_code_and_taken_away_again():
    off = changed(SetBox(block=KEYS[LIGHT], is_step=False))
    assert "Look at the LED" not in written(off.body)
    on = changed(SetBox(block=KEYS[LIGHT], is_step=True), procedure=off)
    light = on.body[1]
    assert (light.text, light.lines, light.commands) == (
        "Look at the LED",
        ((6, 10),),
        ("show fan",),
    )
    assert written(on.body) == written(BEGUN.body)


def test_a_step_that_cites_lines_around_a_new_box_says_nothing_of_its_place():
    body = (
        Do(id="a", text="Reseat the fan", lines=((RESEAT, RESEAT),)),
        Do(id="b", text="Close the case", lines=((ASKS, ASKS), (CLOSE, CLOSE))),
    )
    procedure = BEGUN.model_copy(update={"body": body})
    boxed = changed(SetBox(block=KEYS[LIGHT], is_step=True), procedure=procedure)
    assert [each.text for each in boxed.body] == [
        "Look at the LED",
        "Reseat the fan",
        "Close the case",
    ]


def test_a_box_takes_the_code_below_it_from_the_step_above():
    off = changed(
        SetBox(block=KEYS[LIGHT], is_step=False), SetBox(block=KEYS[LEAVE], is_step=False)
    )
    leave = apply(off, apply_block_edit(off, PAGE, SetBox(block=KEYS[LEAVE], is_step=True)))
    assert leave.body[0].commands == ("show fan",)
    light = changed(SetBox(block=KEYS[LIGHT], is_step=True), procedure=leave)
    assert [each.commands for each in light.body[:2]] == [(), ("show fan",)]


def test_steps_under_both_answers_of_one_question_share_it():
    procedure = changed(
        SetCondition(block=KEYS[LIGHT], on=KEYS[ASKS]),
        SetCondition(block=KEYS[RESEAT], on=KEYS[ASKS], answer="no"),
    )
    assert written(procedure.body)[1:3] == [
        {"exclusive: Does the fan spin?": ["Look at the LED"]},
        {"otherwise": ["Reseat the fan"]},
    ]
    assert procedure.body[1].arms[0].lines == ((3, 3),)
    free = changed(SetCondition(block=KEYS[RESEAT], on=None), procedure=procedure)
    assert written(free.body)[1:3] == [
        {"exclusive: Does the fan spin?": ["Look at the LED"]},
        "Reseat the fan",
    ]


def test_a_condition_is_replaced_by_another_one():
    yes, no = (SetCondition(block=KEYS[LIGHT], on=KEYS[ASKS], answer=a) for a in ("Yes", "No"))
    assert written(changed(yes, no).body)[1] == {
        "exclusive: not Does the fan spin?": ["Look at the LED"]
    }
    with pytest.raises(NothingChangedError):
        changed(SetCondition(block=KEYS[LIGHT], on=None))
    with pytest.raises(BlockNotFoundError, match="before"):
        changed(SetCondition(block=KEYS[LIGHT], on=KEYS[CLOSE]))


def test_an_answer_in_other_words_is_one_of_several():
    procedure = changed(
        SetCondition(
            block=KEYS[LIGHT], on=KEYS[ASKS], answer="Slowly", question="How does it spin?"
        ),
        SetCondition(block=KEYS[RESEAT], on=KEYS[ASKS], answer="Fast"),
    )
    assert written(procedure.body)[1:3] == [
        {"exclusive: How does it spin?": ["Look at the LED"]},
        {"exclusive: How does it spin?": ["Reseat the fan"]},
    ]
    assert len(procedure.body[1].arms) == 2


def test_a_step_hangs_on_its_own_condition_and_ends_the_path_under_it():
    procedure = changed(
        SetCondition(block=KEYS[LEAVE], on=KEYS[LEAVE]),
        SetEnd(block=KEYS[LEAVE], kind="resolved"),
    )
    assert written(procedure.body)[0] == {
        "exclusive: Does it spin?": ["If it spins, leave it", "end: resolved"]
    }
    away = changed(SetEnd(block=KEYS[LEAVE], kind=None), procedure=procedure)
    assert written(away.body)[0] == {"exclusive: Does it spin?": ["If it spins, leave it"]}


@pytest.mark.parametrize(
    ("mode", "drawn", "asks"),
    [
        (ListMode.ONE_OF, Mode.FREE, True),
        (ListMode.SEVERAL, Mode.SEVERAL, True),
        (ListMode.IN_ORDER, Mode.IN_ORDER, False),
    ],
)
def test_a_list_is_switched_and_switched_back(mode, drawn, asks):
    procedure = changed(SetList(block=KEYS[TRAY], mode=mode))
    (choice,) = (node for node in procedure.body if isinstance(node, Choice))
    assert (choice.mode, choice.question) == (drawn, "Do one of the following" if asks else "")
    assert [written(arm.body) for arm in choice.arms] == [
        ["Replace the fan"],
        ["Replace the tray"],
        ["Call the vendor"],
    ]
    assert ("Do one of the following" in written(procedure.body)) is not asks
    back = changed(SetList(block=KEYS[LEAD], mode=ListMode.ALL), procedure=procedure)
    at = written(back.body).index("Do one of the following")
    items = ["Replace the fan", "Replace the tray", "Call the vendor"]
    assert written(back.body)[at + 1 : at + 4] == items


def test_conditions_of_items_become_those_of_the_list():
    procedure = changed(
        SetBox(block=KEYS[FAN], is_step=True),
        SetBox(block=KEYS[TRAY], is_step=True),
        SetBox(block=KEYS[VENDOR], is_step=True),
        SetCondition(block=KEYS[FAN], on=KEYS[FAN], question="Is it old?"),
        SetCondition(block=KEYS[TRAY], on=KEYS[TRAY], question="Is it loose?"),
        SetCondition(block=KEYS[VENDOR], on=KEYS[VENDOR], question="Is it new?"),
        SetList(block=KEYS[FAN], mode=ListMode.ONE_OF),
    )
    (choice,) = (node for node in procedure.body if isinstance(node, Choice))
    assert (choice.mode, [arm.guard.text for arm in choice.arms]) == (
        Mode.EXCLUSIVE,
        ["Is it old?", "Is it loose?", "Is it new?"],
    )


def test_notes_stand_in_their_step_with_their_lines_or_none():
    procedure = changed(
        SetNote(block=KEYS[GLOVES], of=KEYS[RESEAT]),
        AddOwnNote(block=KEYS[RESEAT], text="Mind the cable"),
    )
    step = next(node for node in procedure.body if node.lines == ((11, 11),))
    assert [(note.text, note.lines) for note in step.notes] == [
        ("Wear gloves.", ((14, 14),)),
        ("Mind the cable", ()),
    ]
    assert "Wear gloves" not in written(procedure.body)
    again = changed(SetBox(block=KEYS[GLOVES], is_step=True), procedure=procedure)
    assert "Wear gloves" in written(again.body)
    step = next(node for node in again.body if node.lines == ((11, 11),))
    assert [note.text for note in step.notes] == ["Mind the cable"]


def test_a_step_becomes_a_note_with_its_code_and_notes():
    procedure = changed(
        AddOwnNote(block=KEYS[LIGHT], text="Mind the cable"),
        SetNote(block=KEYS[LIGHT], of=KEYS[RESEAT]),
    )
    step = next(node for node in procedure.body if node.lines == ((11, 11),))
    assert [(note.text, note.lines) for note in step.notes] == [
        ("Mind the cable", ()),
        ("Look at the LED\nshow fan", ((6, 10),)),
    ]
    back = changed(SetBox(block=KEYS[LIGHT], is_step=True), procedure=procedure)
    assert written(back.body) == written(BEGUN.body)


def test_a_step_becomes_no_note_where_its_condition_would_be_lost():
    under = changed(SetCondition(block=KEYS[LIGHT], on=KEYS[ASKS]))
    with pytest.raises(WrongKindError, match="Does the fan spin"):
        changed(SetNote(block=KEYS[LIGHT], of=KEYS[CLOSE]), procedure=under)
    own = changed(SetCondition(block=KEYS[LEAVE], on=KEYS[LEAVE]))
    note = changed(SetNote(block=KEYS[LEAVE], of=KEYS[CLOSE]), procedure=own).body[-1].notes[0]
    assert note.text == "If it spins, leave it."


def test_what_is_no_way_out_of_this_kind_is_said_as_it_is():
    procedure = changed(GoOn(block=KEYS[CLOSE], at=KEYS[LIGHT]))
    with pytest.raises(NothingChangedError, match="goes on at another step"):
        changed(SetEnd(block=KEYS[CLOSE], kind=None), procedure=procedure)


def test_one_goes_on_at_another_block_or_at_the_next_again():
    procedure = changed(GoOn(block=KEYS[CLOSE], at=KEYS[LIGHT]))
    jump = procedure.body[-1]
    assert (jump.target, jump.lines) == (procedure.body[1].id, ((24, 24),))
    other = changed(GoOn(block=KEYS[CLOSE], at=KEYS[RESEAT]), procedure=procedure)
    assert [n.target for n in other.body if isinstance(n, Jump)] == [other.body[2].id]
    gone = changed(SetBox(block=KEYS[RESEAT], is_step=False), procedure=other)
    assert other.body[2].id not in {n.target for n in gone.body if isinstance(n, Jump)}
    back = changed(GoOn(block=KEYS[CLOSE]), procedure=other)
    assert written(back.body) == written(BEGUN.body)


def test_steps_are_joined_split_moved_and_added():
    joined = changed(Join(block=KEYS[CLOSE], into=KEYS[RESEAT]))
    step = joined.body[2]
    assert (step.text, step.lines) == ("Reseat the fan. Close the case", ((11, 11), (24, 24)))
    parted = changed(Split(block=KEYS[CLOSE]), procedure=joined)
    assert [n.text for n in parted.body[2:4]] == ["Reseat the fan", "Close the case"]
    moved = changed(MoveStep(block=KEYS[CLOSE], beside=KEYS[LEAVE], is_before=True))
    assert moved.body[0].text == "Close the case"
    added = changed(AddOwnStep(block=KEYS[LIGHT], text="Take a picture"))
    assert (added.body[2].text, added.body[2].lines) == ("Take a picture", ())


def test_a_block_that_the_page_lacks_or_that_is_withheld_is_refused():
    with pytest.raises(BlockNotFoundError):
        changed(SetBox(block="nowhere-1.1", is_step=True))
    withheld = parse_page(TEXT, withheld=(CLOSE,))
    key = next(p.block.key for p in withheld.places() if p.block.start_line == CLOSE)
    off = changed(SetBox(block=KEYS[CLOSE], is_step=False))
    with pytest.raises(BlockNotFoundError):
        apply_block_edit(off, withheld, SetBox(block=key, is_step=True))


def test_the_procedure_of_a_block_is_the_one_whose_lines_have_it():
    whole = BEGUN.model_copy(update={"lines": ((1, 24),)})
    end = BEGUN.model_copy(update={"lines": ((20, 24),)})
    assert procedure_at([whole, end], PAGE, KEYS[ASKS]) == 0
    assert procedure_at([whole, end], PAGE, KEYS[CLOSE]) == 1


def test_a_block_asks_its_own_question_or_that_of_its_condition():
    questions = {place.block.start_line: question_of(place.block) for place in PAGE.places()}
    assert (questions[ASKS], questions[LEAVE]) == ("Does the fan spin?", "Does it spin?")


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_changed_at_blocks_leaves_a_workflow_that_can_be_judged(seed):
    rng = random.Random(seed)
    procedure, kinds = BEGUN, set()
    for _ in range(14):
        blocks = [rng.choice(list(KEYS.values())) for _ in range(2)]
        edit = BLOCK_EDIT.validate_python(
            rng.choice(
                [
                    {"edit": "box", "block": blocks[0], "is_step": rng.random() < 0.6},
                    {
                        "edit": "only_if",
                        "block": blocks[0],
                        "on": rng.choice([None, *blocks]),
                        "answer": rng.choice(["Yes", "No", "Maybe"]),
                    },
                    {"edit": "list", "block": blocks[0], "mode": rng.choice(list(ListMode))},
                    {"edit": "goes_on", "block": blocks[0], "at": rng.choice([None, blocks[1]])},
                    {"edit": "note_of", "block": blocks[0], "of": blocks[1]},
                    {"edit": "split", "block": blocks[0]},
                    {"edit": "join", "block": blocks[0], "into": blocks[1]},
                    {"edit": "end", "block": blocks[0], "kind": rng.choice([None, "escalate"])},
                    {"edit": "move", "block": blocks[0], "beside": blocks[1]},
                    {"edit": "add", "block": blocks[0], "text": "By hand"},
                    {"edit": "remark", "block": blocks[0], "text": "Mind it"},
                ]
            )
        )
        try:
            procedure = changed(edit, procedure=procedure)
        except UnusableOperationError:
            continue
        kinds.add(edit.edit)
        reading = Reading(reader=Reader.PERSON, procedures=(procedure,))
        if not any(each.lines for each in procedure.sourced()):
            break
        checked = check_reading(reading, TEXT)
        assert checked.reading.procedures == (procedure,), checked.remarks
        severe = [
            each
            for each in lint(lower(procedure, "fan.md"))
            if each.check in STRUCTURE_CHECKS and each.severity is Severity.ERROR
        ]
        assert not severe
    assert kinds


def test_notes_of_a_box_that_is_taken_off_move_to_the_step_above():
    noted = changed(SetNote(block=KEYS[GLOVES], of=KEYS[RESEAT]))
    before = {step.text: step.notes for step in noted.body}
    off = changed(SetBox(block=KEYS[RESEAT], is_step=False), procedure=noted)
    after = {step.text: step.notes for step in off.body}
    assert "Reseat the fan" not in after
    assert before["Reseat the fan"]
    assert after["Look at the LED"] == (*before["Look at the LED"], *before["Reseat the fan"])


def test_notes_of_the_first_box_move_to_the_next_step():
    noted = changed(SetNote(block=KEYS[GLOVES], of=KEYS[ASKS]))
    off = changed(SetBox(block=KEYS[ASKS], is_step=False), procedure=noted)
    assert noted.body[0].notes[-1] in off.body[0].notes


def test_a_list_becomes_notes_of_a_step_at_once():
    key = next(p.block.key for p in PAGE.places() if p.block.start_line == FAN)
    procedure = changed(SetNote(block=key, of=KEYS[RESEAT]))
    notes = [n.text for n in next(s for s in procedure.body if s.text == "Reseat the fan").notes]
    assert notes[-3:] == ["Replace the fan", "Replace the tray", "Call the vendor"]
    assert not {"Replace the fan", "Replace the tray", "Call the vendor"} & set(
        written(procedure.body)
    )


def test_a_step_is_said_in_a_persons_words_and_cites_its_lines():
    procedure = changed(SetWords(block=KEYS[LIGHT], text="Look at the green lamp"))
    lamp = procedure.body[1]
    assert (lamp.text, lamp.lines, lamp.commands) == (
        "Look at the green lamp",
        ((6, 10),),
        ("show fan",),
    )
    with pytest.raises(NothingChangedError):
        changed(SetWords(block=KEYS[LIGHT], text="Look at the green lamp"), procedure=procedure)


def test_a_condition_is_said_in_a_persons_words():
    under = changed(SetCondition(block=KEYS[LIGHT], on=KEYS[ASKS]))
    procedure = changed(SetWords(block=KEYS[ASKS], text="Is it still?"), procedure=under)
    assert {"exclusive: Is it still?": ["Look at the LED"]} in written(procedure.body)


TWO = parse_page("# Pump\n\nClose the valve. Then run `pump stop`.\n\nNote the hour.\n")


def test_a_block_of_two_sentences_is_split_and_each_part_is_renamed_or_all_taken_away():
    key = next(p.block.key for p in TWO.places() if p.block.start_line == 3)
    stop = Do(text="Close the valve. Then run pump stop", lines=((3, 3),), commands=("pump stop",))
    procedure = BEGUN.model_copy(update={"body": (stop, Do(text="Note the hour", lines=((5, 5),)))})
    for edit in (Split(block=key), SetWords(block=key, text="Stop it", was="Then run pump stop")):
        procedure = apply(procedure, apply_block_edit(procedure, TWO, edit))
    assert [(each.text, each.commands, each.lines) for each in procedure.body[:2]] == [
        ("Close the valve", (), ((3, 3),)),
        ("Stop it", ("pump stop",), ((3, 3),)),
    ]
    off = apply(procedure, apply_block_edit(procedure, TWO, SetBox(block=key, is_step=False)))
    assert [each.text for each in off.body] == ["Note the hour"]
