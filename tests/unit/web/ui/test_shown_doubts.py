"""The page, the answer and the events say when the closest procedure is not sure to be the one."""

import pytest

from services.tickets.ticket.events import Events
from services.tickets.walk.fit import Thresholds
from services.workflow.model import Provenance
from tests.unit.gateway.fakes import RUNBOOK, fan_workflow

TICKET = {"id": "T-1", "title": "Fan 2 has failed"}
BANNER = "Closest known page, not sure that it is the one"


@pytest.fixture
def unsure(gateway):
    fitted = Thresholds.shipped()
    chance = (fitted.unsure_from + fitted.sure_from) / 2
    context = gateway.retrieval.context.model_copy(update={"confidence": chance})
    gateway.retrieval.context = context
    return gateway


def page_of(gateway, ticket_id):
    return gateway.client.get(f"/tickets/{ticket_id}").text


def test_the_page_says_not_sure_and_why(unsure):
    ticket_id = unsure.post(TICKET)["id"]
    unsure.work()
    page = page_of(unsure, ticket_id)
    assert BANNER in page
    assert 'aria-labelledby="unsure"' in page
    assert "the chance that the closest page treats this fault is" in page
    assert '<span class="judged closest"' in unsure.client.get("/").text


def test_the_page_of_what_surely_fits_has_no_such_banner(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    assert BANNER not in page_of(gateway, ticket_id)


def test_an_answer_that_was_waited_for_says_it_too(unsure):
    first = unsure.post(TICKET)
    unsure.work()
    answer = unsure.post(TICKET, "/workflow?wait=1")
    assert answer["id"] == first["id"]
    assert (answer["fit"], answer["tickets"][0]["fit"]) == ("unsure", "unsure")
    assert answer["against"] == answer["workflow"]["against"] != []


def test_the_last_event_says_it(unsure):
    ticket_id = unsure.post(TICKET)["id"]
    unsure.work()
    events = Events(unsure.database).after(0, ticket_id=ticket_id)
    assert events[-1].facts["fit"] == "unsure"
    assert events[-1].facts["against"]


def test_the_page_shows_notes_doubts_and_whose_reading_it_is(gateway):
    workflow = fan_workflow()
    look, *others = workflow.steps
    look = look.model_copy(update={"notes": ("Mind the fan.",), "doubt": "For spines <only>."})
    implied = others[-1].model_copy(update={"citations": (), "implied": True})
    origin = Provenance(
        planner="extractive", reader="model", state="approved", document_ids=(RUNBOOK,)
    )
    update = {"steps": (look, *others[:-1], implied), "provenance": origin}
    gateway.planner.workflows = [workflow.model_copy(update=update)]
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    page = page_of(gateway, ticket_id)
    assert "Mind the fan." in page
    assert "For spines &lt;only&gt;." in page
    assert "Follows from the steps around it" in page
    assert "page read by a model, approved" in page
