from datetime import UTC, datetime

import pytest

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.planner.readings import workflows
from services.planner.service import should_ask_model
from services.planner.settings import AskModel
from services.runbook.model import Doubt, DoubtKind, LeftOut, Reader, Reading
from services.runbook.ports import Approval, ApprovalKind, ServedReading
from services.workflow.lint import is_clean, lint
from services.workflow.model import StepKind
from tests.unit.planner.pages import INDEX, NUMBERED, STEP, context, nodes, read, request
from tests.unit.runbook.programs import do, end, procedure

TICKET = TicketDraft(source="generic", external_id="1", title="CRC errors on an uplink")


def page(id_, *procedures, title="", score=0.9, doubts=()):
    reading = Reading(reader=Reader.PERSON, procedures=tuple(procedures), doubts=doubts)
    served = ServedReading(reading=reading)
    return PageReading(document_id=id_, title=title or id_, served=served, score=score)


def request_of(*pages, title="A ticket", **labels):
    ticket = TicketDraft(source="generic", external_id="1", title=title, labels=labels)
    return PlanRequest(ticket=ticket, context=context(), pages=pages)


def planned(request_):
    return list(workflows(request_, documents=3))


def test_a_workflow_says_whose_reading_it_follows():
    imported = read(NUMBERED, "a.md", reader=Reader.IMPORTED)
    (workflow,) = planned(PlanRequest(ticket=TICKET, context=context(), pages=(imported,)))
    assert workflow.provenance is not None
    assert (workflow.provenance.reader, workflow.provenance.state) == ("imported", "read")
    assert workflow.provenance.document_ids == ("a.md",)


def test_a_page_that_nobody_has_read_has_no_workflow_of_a_reading():
    assert planned(request(TICKET, ("a.md", NUMBERED))) == []


def test_a_linked_page_that_nobody_has_read_is_not_gone_on_with():
    first = procedure(do("Look", 1), end("other_page", "Go on with TemperatureHigh", 3))
    hot = PageReading(document_id="hot.md", title="TemperatureHigh")
    (workflow,) = planned(request_of(page("a", first), hot))
    assert {c.document_id for s in workflow.steps for c in s.citations} == {"a"}


def with_approval(read_page, kind):
    approval = Approval(by="ada", at=datetime(2026, 1, 1, tzinfo=UTC), kind=kind)
    served = read_page.served.model_copy(update={"approvals": (approval,)})
    return read_page.model_copy(update={"served": served})


def test_a_workflow_that_was_begun_from_boxes_says_so_until_its_decisions_are_approved():
    begun = procedure(do("Look", 1), begun_from_boxes=True)
    (workflow,) = planned(request_of(page("a", begun)))
    words = workflow.provenance.page_origin
    assert words == "begun from boxes: nobody was asked for its decisions"
    for kind, state, mark in (
        (ApprovalKind.CHECKLIST, "checklist", words),
        (ApprovalKind.WORKFLOW, "approved", ""),
    ):
        (checked,) = planned(request_of(with_approval(page("a", begun), kind)))
        origin = checked.provenance
        assert (origin.state, origin.page_origin) == (state, mark)
    (other,) = planned(request_of(page("a", procedure(do("Look", 1)))))
    assert other.provenance.page_origin == ""


def test_an_approved_procedure_is_told_to_be_one():
    plan_request = PlanRequest(
        ticket=TICKET, context=context(), pages=(read(NUMBERED, "a.md", approved=True),)
    )
    assert planned(plan_request)[0].provenance.state == "approved"


@pytest.mark.parametrize(
    ("approved", "state"),
    [
        ({"a": "workflow", "hot.md": "workflow"}, "approved"),
        ({"a": "workflow", "hot.md": "checklist"}, "checklist"),
        ({"a": "checklist"}, "read"),
        ({"a": "workflow"}, "read"),
        ({"hot.md": "workflow"}, "read"),
        ({}, "read"),
    ],
)
def test_a_joined_workflow_is_approved_where_the_procedure_of_every_page_is(approved, state):
    first = procedure(do("Look", 1), end("other_page", "Go on with TemperatureHigh", 3))
    hot = page("hot.md", procedure(do("Cool it", 2)), title="TemperatureHigh", score=0.0)
    pages = [
        with_approval(each, ApprovalKind(approved[each.document_id]))
        if each.document_id in approved
        else each
        for each in (page("a", first), hot)
    ]
    (workflow,) = planned(request_of(*pages))
    assert workflow.provenance.state == state


def test_pages_that_fit_nearly_as_well_compete_and_others_do_not():
    near = request_of(
        page("a", procedure(do("A", 1)), score=0.9), page("b", procedure(do("B", 1)), score=0.8)
    )
    far = request_of(
        page("a", procedure(do("A", 1)), score=0.9), page("b", procedure(do("B", 1)), score=0.3)
    )
    assert [w.steps[0].text for w in planned(near)] == ["A", "B"]
    assert [w.steps[0].text for w in planned(far)] == ["A"]


def test_a_page_without_procedure_does_not_let_an_unrelated_one_in():
    assert (
        planned(request_of(page("a", score=0.9), page("b", procedure(do("B", 1)), score=0.3))) == []
    )


def test_the_procedure_that_treats_the_fault_is_taken():
    hot = procedure(do("Cool", 1)).model_copy(update={"title": "Module is too hot"})
    weak = procedure(do("Clean", 5)).model_copy(update={"title": "Receive power is low"})
    (workflow, *_) = planned(request_of(page("a", weak, hot), title="Module too hot in port 3"))
    assert workflow.steps[0].text == "Cool"


def test_a_ticket_that_names_none_of_the_procedures_is_asked_which_it_is():
    hot = procedure(do("Cool", 1)).model_copy(update={"title": "Module is too hot"})
    weak = procedure(do("Clean", 5)).model_copy(update={"title": "Receive power is low"})
    (workflow,) = planned(request_of(page("a", weak, hot), title="Port 3 has errors"))
    question, *_ = workflow.steps
    assert is_clean(lint(workflow))
    assert question.text == "Which of these is it?"
    answers = {edge.condition: workflow.by_id[edge.target] for edge in workflow.exits(question.id)}
    assert [*answers] == ["Receive power is low", "Module is too hot", "None of these"]
    assert answers["Module is too hot"].text == "Cool"
    assert sum(step.text == "Resolved" for step in workflow.steps) == 1


ALERTS_OF_FANS = """# Fans

## FanStopped

- Swap the fan of the tray.
- Note its serial number.

## FanSlow

- Clean the filter of the fan.
- Note the speed of the fan.

## FanLoud

- Fasten the fan.
- Listen to the fan again.
"""


def test_the_procedure_of_the_section_that_the_alert_names_is_taken():
    sections = [
        procedure(do("Swap the fan", 5), do("Note it", 6), title="Fan of the tray slow"),
        procedure(do("Clean the filter", 10), do("Note it", 11), title="Filter"),
        procedure(do("Fasten the fan", 15), do("Listen", 16), title="Noise"),
    ]
    fans = page("a", *sections).model_copy(update={"text": ALERTS_OF_FANS})
    slow = request_of(fans, title="FanSlow: fan of the tray slow", alertname="FanSlow")
    (workflow,) = planned(slow)
    assert workflow.steps[0].text == "Clean the filter"


SECOND = """
# Condenser is seized

1. Look at the condenser.
2. Restart the condenser with `condenser restart`.
"""


@pytest.mark.parametrize(
    ("title", "left_out", "state"),
    [
        ("CRC errors on an uplink", (), "approved"),
        ("Condenser is seized", (), "read"),
        ("Condenser is seized", (LeftOut(lines=((22, 27),), reason="other"),), "read"),
        ("Condenser is seized", (LeftOut(lines=((22, 27),), reason="example"),), "approved"),
    ],
)
def test_an_approval_vouches_for_the_section_of_its_procedure_alone(title, left_out, state):
    page_ = read(NUMBERED + SECOND, "a.md", approved=True)
    reading = page_.served.reading.model_copy(update={"left_out": left_out})
    served = page_.served.model_copy(update={"reading": reading})
    page_ = page_.model_copy(update={"served": served})
    plan_request = request_of(page_, title=title)
    assert planned(plan_request)[0].provenance.state == state
    assert should_ask_model(AskModel.UNCHECKED, plan_request) == (state == "read")


def test_what_the_reading_doubts_is_marked_at_its_step():
    drain = procedure(do("Drain", 4, id="n1"))
    doubt = Doubt(id="d1", kind=DoubtKind.CONDITION, node="n1", question="Always?")
    (workflow,) = planned(request_of(page("a", drain, doubts=(doubt,))))
    assert workflow.steps[0].doubt == "Always?"


def test_an_end_that_names_another_page_goes_on_with_it():
    hot = page("hot.md", procedure(do("Cool it", 2)), title="TemperatureHigh", score=0.0)
    first = procedure(do("Look", 1), end("other_page", "Go on with TemperatureHigh", 3))
    (workflow,) = planned(request_of(page("a", first), hot))
    assert [step.text for step in workflow.steps] == [
        "Look",
        "Go on with TemperatureHigh",
        "Cool it",
        "Is the issue resolved?",
        "Resolved",
        "Nothing else on this page: escalate",
    ]
    assert is_clean(lint(workflow))
    assert {c.document_id for s in workflow.steps for c in s.citations} == {"a", "hot.md"}


def test_a_page_of_links_is_the_pages_it_links_to_one_after_the_other():
    steps = {
        f"steps/{name.lower()}.md": STEP.format(name=name, description=d, remedy=r)
        for name, d, r in (
            ("Fans", "Check that all fans turn.", "Replace the fan."),
            ("Power", "Check that both feeds are up.", "Connect the second feed."),
            ("Uplinks", "Check that the uplinks are up.", "Clean the optics."),
        )
    }
    ticket = TicketDraft(source="generic", external_id="1", title="Fabric health walk")
    links = [do(name, n) for n, name in enumerate(("Fans", "Power", "Uplinks"), 7)]
    swap = (do("Check it", 5), do("Mend it", 9))
    pages = (
        read(INDEX, "walk.md", steps=links),
        *(read(t, id_, 0.0, steps=swap) for id_, t in steps.items()),
    )
    plan_request = PlanRequest(ticket=ticket, context=context(nodes(INDEX, "walk.md")), pages=pages)
    (workflow,) = planned(plan_request)
    cited = {c.document_id for s in workflow.steps for c in s.citations}
    assert cited >= set(steps)
    assert is_clean(lint(workflow))
    assert any(workflow.of_kind(StepKind.TERMINAL))


def test_steps_that_only_name_a_linked_page_do_not_keep_it_from_being_one():
    names = ("Fans", "Power", "Uplinks")
    steps = {
        f"steps/{name.lower()}.md": STEP.format(
            name=f"Net/Check {name}", description=f"Look at the {name}.", remedy=f"Swap the {name}."
        )
        for name in names
    }
    index = INDEX.replace("[", "[Check ").replace(
        "- [Check End]", "Open the rack.\n\n- [Check End]"
    )
    ticket = TicketDraft(source="generic", external_id="1", title="Fabric health walk")
    links = [do(f"Check {name}", n) for n, name in enumerate(names, 7)]
    swap = (do("Look at it", 5), do("Swap it", 9))
    pages = (
        read(index, "walk.md", steps=[*links, do("Open the rack", 11)]),
        *(read(t, id_, 0.0, steps=swap) for id_, t in steps.items()),
    )
    plan_request = PlanRequest(ticket=ticket, context=context(nodes(index, "walk.md")), pages=pages)
    (workflow,) = planned(plan_request)
    assert {c.document_id for s in workflow.steps for c in s.citations} == set(steps)
