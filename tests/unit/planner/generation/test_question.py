from services.planner.generation.question import LABEL, PROMPT, messages
from services.planner.generation.selection import select_excerpts
from services.runbook.by_model.question import PROMPT as READING
from services.runbook.by_model.question import number_lines, worked_examples
from services.runbook.model import Doubt, DoubtKind, Procedure, Reader, Reading
from services.runbook.ports import ServedReading
from tests.unit.planner.generation.programs import CABLE, REQUEST, TICKET

BY_A_MODEL = Reading(
    reader=Reader.MODEL,
    procedures=(
        Procedure.model_validate(
            {"title": "CRC errors", "steps": [CABLE | {"id": "n1", "commands": ["show secret"]}]}
        ),
    ),
    doubts=(
        Doubt(id="d1", kind=DoubtKind.STEP, node="n1", question="Is the cable replaced?"),
        Doubt(id="d2", kind=DoubtKind.STEP, node="n1", procedure=1, question="Of another one?"),
    ),
)


def task_of(reading: Reading | None = None, **ticket: object) -> str:
    """The task."""
    best = REQUEST.pages[0]
    if reading:
        best = best.model_copy(update={"served": ServedReading(reading=reading)})
    plan_request = REQUEST.model_copy(
        update={
            "pages": (best, *REQUEST.pages[1:]),
            "ticket": TICKET.model_copy(update=ticket),
        }
    )
    return messages(
        plan_request, select_excerpts(plan_request, page_tokens=1000, context_tokens=100)
    )[-1].content


def test_how_pages_are_read_is_said_by_the_readers_prompt():
    assert PROMPT.system.startswith(READING.system)
    assert LABEL.endswith(READING.label)


def test_the_worked_example_is_a_whole_page_for_a_ticket_about_it():
    _, example, answer, task = messages(
        REQUEST, select_excerpts(REQUEST, page_tokens=999, context_tokens=0)
    )
    assert "1 | " in example.content
    assert answer.content.startswith('{"procedures": [{')
    assert "CRC errors on Ethernet12" in task.content
    assert "CRC errors on Ethernet12" not in example.content


def test_a_page_is_never_its_own_worked_example():
    own = worked_examples()[0].text
    best = REQUEST.pages[0].model_copy(update={"text": own})
    plan_request = REQUEST.model_copy(update={"pages": (best, *REQUEST.pages[1:])})
    _, example, _, _ = messages(
        plan_request, select_excerpts(plan_request, page_tokens=9999, context_tokens=999)
    )
    assert number_lines(own) not in example.content


def test_what_a_model_read_is_shown_with_its_doubts_and_without_commands():
    task = task_of(BY_A_MODEL)
    assert '"do": "Replace the cable"' in task
    assert "Is the cable replaced?" in task
    assert "Of another one?" not in task
    assert "show secret" not in task


def test_of_a_page_that_nobody_has_read_no_reading_is_shown():
    assert '"do"' not in task_of()


def test_secrets_of_a_ticket_do_not_leave_the_house():
    assert "hunter2" not in task_of(description="The login has password: hunter2hunter2")
