"""The drawn examples: what is shipped is made of them, and what is served is what was drawn."""

import json
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.knowledge.model import KnowledgeContext
from services.knowledge.page.parsing import parse_page
from services.planner.readings import workflows
from services.runbook.by_model.question import (
    PageKind,
    ProgramAnswer,
    kind_of,
    worked_examples,
)
from services.runbook.checking.check import check_reading
from services.runbook.checking.unplaced import unplaced_blocks
from services.runbook.checking.walker import findings, findings_of
from services.runbook.lowering import lower
from services.runbook.model import Reader, Reading
from services.runbook.ports import ServedReading
from services.workflow.lint import is_clean, lint

ROOT = Path(__file__).parents[2]
draw = SourceFileLoader("draw", str(ROOT / "examples" / "draw.py")).load_module()
DRAWN = draw.drawings()
SHIPPED = sorted(set(DRAWN) - draw.LEFT_UNREAD)


def test_what_is_shipped_is_made_of_the_drawings():
    shipped = (ROOT / "examples" / "readings.jsonl").read_text("utf-8")
    assert shipped == draw.made(), "make examples"


@pytest.mark.parametrize("example", worked_examples(), ids=lambda e: e.text.strip()[:30])
def test_a_worked_example_is_what_the_prompt_asks_for(example):
    answer = ProgramAnswer.model_validate(example.program)
    read = Reading(reader=Reader.MODEL, procedures=answer.procedures, left_out=answer.left_out)
    kept = check_reading(read, example.text)
    assert kept.remarks == []
    assert findings_of(kept.reading.procedures, example.text) == []
    page = parse_page(example.text)
    assert unplaced_blocks(kept.reading.procedures, answer.left_out, page) == []


def test_worked_examples_show_each_kind_of_page():
    kinds = {kind_of(parse_page(example.text)) for example in worked_examples()}
    assert kinds == set(PageKind)


def test_worked_examples_of_documents_have_their_texts():
    texts = {text for text, _ in DRAWN.values()}
    assert sum(example.text in texts for example in worked_examples()) == len(SHIPPED)


def test_every_document_is_drawn_and_three_are_left_unread():
    documents = {
        path.relative_to(ROOT / "examples" / "documents").as_posix()
        for path in (ROOT / "examples" / "documents").rglob("*")
        if path.is_file()
    }
    assert set(DRAWN) == documents
    assert len(draw.LEFT_UNREAD) == 3


@pytest.mark.parametrize("document", sorted(DRAWN))
def test_a_drawing_is_sound(document):
    _, reading = DRAWN[document]
    for procedure in reading.procedures:
        assert findings(procedure) == []
        assert is_clean(lint(lower(procedure, document)))


@pytest.mark.parametrize("document", SHIPPED)
def test_a_ticket_is_served_the_workflow_that_was_drawn(document):
    _, reading = DRAWN[document]
    served = ServedReading(reading=reading)
    page = PageReading(document_id=document, title=document, served=served, score=1.0)
    ticket = TicketDraft(source="test", external_id="1", title=reading.procedures[0].title)
    request = PlanRequest(ticket=ticket, context=KnowledgeContext(), pages=(page,))
    best = next(workflows(request, documents=1))
    drawn = lower(reading.procedures[0], document)
    assert (best.steps, best.transitions) == (drawn.steps, drawn.transitions)


def test_rows_say_that_they_are_approved():
    readings = draw.made()
    assert {json.loads(row)["state"] for row in readings.splitlines()} == {"approved"}
