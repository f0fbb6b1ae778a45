"""What an owner is asked of a page."""

from datetime import UTC, datetime

from services.knowledge.page.boxes import blocks_of, find_boxes
from services.knowledge.page.parsing import parse_page
from services.runbook.editing.block_edits import SetBox, SetCondition
from services.runbook.evidence.page_questions import MOST_QUESTIONS, box_questions, page_questions
from services.runbook.model import Doubt, DoubtKind, Procedure, Reader, Reading
from services.runbook.ports import Approval, ApprovalKind, ServedReading
from services.runbook.program import assign_ids

TEXT = """# Fan stands still

The chassis has six of them.

1. Look at the tray.
2. Seat the fan.

Is the fan broken?

Replace the fan if it is.

- bays one to four
- bays five and six
"""
PAGE = parse_page(TEXT)
READ = assign_ids(
    Reading(
        reader=Reader.MODEL,
        procedures=(
            Procedure.model_validate(
                {
                    "title": "Fan",
                    "at": [[1, 12]],
                    "steps": [
                        {"do": "Look at the tray", "at": [[5, 5]]},
                        {
                            "choice": "exclusive",
                            "at": [[8, 8]],
                            "arms": [
                                {
                                    "when": "Is the fan broken?",
                                    "at": [[8, 8]],
                                    "steps": [{"do": "Replace the fan", "at": [[10, 10]]}],
                                }
                            ],
                        },
                    ],
                }
            ),
        ),
    )
)


def ask(served=None, unedited=None, **more):
    return page_questions(PAGE, "fan.md", served, unedited, **more)


def block_at(line):
    return next(p.block for p in PAGE.places() if p.block.start_line == line and p.block.text)


def test_of_an_unread_page_the_boxes_are_asked_about_the_likeliest_wrong_first():
    questions = ask()
    chances = [each.chance_wrong for each in questions]
    assert 0 < len(questions) <= MOST_QUESTIONS
    assert chances == sorted(chances, reverse=True)
    boxed = {box.block.key for box in find_boxes(PAGE)}
    for question in questions:
        of_block = {place.block.key for place in blocks_of(PAGE, question.block)}
        is_box = SetBox(block=question.block, is_step=not of_block <= boxed)
        assert (question.yes, question.no) == (
            (None, is_box) if of_block <= boxed else (is_box, None)
        )


def test_a_list_is_one_question_and_a_corrected_block_none():
    many = next(each for each in box_questions(PAGE) if each.lines == ((5, 5), (6, 6)))
    assert many.text == "Are these 2 items steps, from “Look at the tray” on?"
    first, second = blocks_of(PAGE, many.block)
    left = {each.block for each in box_questions(PAGE, {first.block.key: True})}
    assert left.isdisjoint({many.block, first.block.key, second.block.key})


def test_what_was_answered_is_not_asked_again_and_on_a_changed_page_only_its_changed_blocks():
    first, *others = ask()
    assert [each.id for each in ask(answered={first.id})] == [each.id for each in others]
    assert ask(changed=set()) == ()
    changed = {place.block.key for place in blocks_of(PAGE, first.block)}
    assert [each.id for each in ask(changed=changed)] == [first.id]


def served(reading=READ, approval=None):
    return ServedReading(reading=reading, approvals=(approval,))


def condition_questions(questions):
    return [q for q in questions if isinstance(q.no or q.yes, SetCondition)]


def doubted(reading, *kinds):
    """The reading, with a doubt of each kind about the step under its condition."""
    step = next(node for node in reading.procedures[0].walk() if node.lines == ((10, 10),))
    doubts = tuple(
        Doubt(id=f"d{n}", kind=kind, node=step.id, question="?", lines=((10, 10),))
        for n, kind in enumerate(kinds)
    )
    return reading.model_copy(update={"doubts": doubts})


def test_a_condition_in_which_samples_differ_is_asked_at_its_step():
    reading = doubted(READ, DoubtKind.CONDITION)
    (question,) = condition_questions(ask(served(reading), reading))
    assert question.text == "Is this done only if “Is the fan broken?” is answered Yes?"
    key = block_at(10).key
    assert (question.block, question.lines) == (key, ((10, 10),))
    assert (question.yes, question.no) == (None, SetCondition(block=key))


def test_a_step_that_one_sample_has_is_asked_and_names_its_doubt():
    reading = doubted(READ, DoubtKind.MISSING)
    missing = next(q for q in ask(served(reading), reading) if q.doubt)
    assert (missing.doubt, missing.no) == ("d0", None)
    assert missing.yes == SetBox(block=block_at(10).key, is_step=True)


def test_what_a_person_changed_is_no_question_any_more():
    reading = doubted(READ, DoubtKind.CONDITION)
    flat = reading.procedures[0].map(
        node=lambda node: node.arms[0].body if hasattr(node, "arms") else (node,)
    )
    edited = reading.model_copy(update={"reader": Reader.PERSON, "procedures": (flat,)})
    assert condition_questions(ask(served(edited), reading)) == []


def test_nothing_that_is_approved_or_that_a_person_wrote_is_a_question():
    reading = doubted(READ, DoubtKind.CONDITION, DoubtKind.MISSING)
    approval = Approval(by="ada", at=datetime.now(UTC))
    assert ask(served(reading, approval), reading) == ()
    assert ask(served(reading), None) == ()


def test_a_checklist_that_is_approved_leaves_its_decisions_to_ask_about():
    reading = doubted(READ, DoubtKind.CONDITION, DoubtKind.MISSING)
    approval = Approval(by="ada", at=datetime.now(UTC), kind=ApprovalKind.CHECKLIST)
    questions = ask(served(reading, approval), reading)
    assert questions == tuple(condition_questions(questions)) != ()
