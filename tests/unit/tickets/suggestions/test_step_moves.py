"""Another order is suggested by the fewest moves, and only where all tickets agree on it.

Words of tickets are suggested without their values.
"""

import pytest

from services.contracts.adoption import StepState
from services.contracts.ingestion import DocumentContents, IngestedDocument
from services.contracts.readings import ReadingDetail
from services.knowledge.page.boxes import candidates
from services.knowledge.page.parsing import parse_page
from services.runbook.model import Reader, Reading
from services.runbook.ports import ReadingState
from services.tickets.parameters import TicketValues
from services.tickets.suggestions.derivation import find_moves, suggest
from services.tickets.suggestions.page_blocks import PageBlocks
from services.tickets.suggestions.page_work import BlockMark, PageWork, WrittenText

NAMES = "abcde"
TEXT = """# Page

1. a step
2. b step
3. c step
4. d step
   - e step
"""
KEYS = dict(zip(NAMES, [place.block.key for place in candidates(parse_page(TEXT))], strict=True))
NAME_OF = {key: name for name, key in KEYS.items()}


@pytest.fixture
def page():
    document = IngestedDocument.model_construct(id="page.md", title="Page", text_hash="0" * 64)
    contents = DocumentContents.model_construct(
        document=document,
        lines=tuple(TEXT.split("\n")),
        chunks=(),
        nodes=(),
        boxes=dict.fromkeys(KEYS.values(), True),
    )
    detail = ReadingDetail.model_construct(
        reader=None, reading=Reading(reader=Reader.PERSON), state=ReadingState.READ
    )
    return PageBlocks(contents, detail)


def moves(page, *orders, teachers=("person:ada", "person:bea")):
    """The moves that these orders of ticking come to, each on a ticket of its own."""
    work = PageWork()
    for number, order in enumerate(orders):
        for at, name in enumerate(order):
            mark = BlockMark(
                f"T{number}",
                KEYS[name],
                name,
                StepState.DONE,
                "ada",
                float(at),
                teacher=teachers[number % len(teachers)],
            )
            work.put(mark)
    return [
        f"{NAME_OF[m.block]} {'before' if m.is_before else 'behind'} {NAME_OF[m.beside]}"
        for m, _ in find_moves(work, page)
    ]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (["abcd"] * 3, []),
        (["bacd"] * 2, []),
        (["bacd"] * 3, ["b before a"]),
        (["dabc"] * 3, ["d before a"]),
        (["bcda"] * 3, ["a behind d"]),
        (["badc"] * 3, ["b before a", "d before c"]),
        (["bacd"] * 3 + ["abcd"], []),
        (["bacd"] * 3 + ["acd"], ["b before a"]),
        (["acbd"] * 3 + ["dcb"] * 3, ["c before b"]),
        (["abced"] * 3, []),
    ],
)
def test_moves_explain_the_order_of_ticking(page, orders, expected):
    assert sorted(moves(page, *orders)) == sorted(expected)


@pytest.mark.parametrize("teacher", ["person:eve", "keys", "source:jira", ""])
def test_tickets_of_one_teacher_suggest_no_order(page, teacher):
    assert moves(page, *["bacd"] * 9, teachers=(teacher,)) == []


def test_whoever_sits_at_the_machine_is_enough_for_themselves(page):
    assert moves(page, *["bacd"] * 3, teachers=("local",)) == ["b before a"]


LABELS = {"device": "leaf-77", "customer": "Globex Bank", "rack": "12", "part": "step"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Ask GLOBEX about a step of leaf77", "Ask <customer> about a step of <device>"),
        ("Is leaf-\u200b77.dc3.example in rack 12?", "Is <value> in rack <rack>?"),
        ("Wait 12 s: curl -u admin:S3cretPw! x", "Wait 12 s: curl -u admin:[redacted] x"),
        ("mysql -p S3cretPw! -h leaf_77", "mysql -p [redacted] -h <device>"),
    ],
)
def test_reasons_and_steps_are_suggested_without_values_and_secrets(page, words, shown):
    work, key = PageWork(), KEYS["a"]
    for number, teacher in enumerate(("person:ada", "person:bea", "person:ada")):
        ticket = f"T{number}"
        work.titles[ticket] = "Fan failed"
        work.values[ticket] = TicketValues(LABELS, "leaf-77.dc3.example", page.words_of_page)
        skipped = StepState.SKIPPED
        work.put(BlockMark(ticket, key, "a step", skipped, "ada", 1.0, words, teacher))
        work.steps.append(WrittenText(ticket, key, words, "ada", 1.0, teacher))
    left, added = suggest(work, page)
    assert {source.text for each in (left, added) for source in each.sources} == {shown}
    assert added.edit.text == shown
