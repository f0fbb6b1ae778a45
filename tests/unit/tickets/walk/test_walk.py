"""The walk, over fakes."""

import time

import pytest

from services.contracts.retrieval import PageReading, RetrievedContext
from services.kit.errors import InvalidInputError, UnavailableError
from services.runbook.model import Reader, Reading
from services.runbook.ports import ServedReading
from services.tickets.ticket.events import Events
from services.tickets.walk.fit import Thresholds
from tests.waiting import eventually

TICKET = {"id": "T-1", "title": "Fan 2 has failed"}
FITTED = Thresholds.shipped()
BETWEEN = (FITTED.unsure_from + FITTED.sure_from) / 2
"""A chance that is neither sure nor nothing."""


def with_chance(gateway, chance):
    return gateway.retrieval.context.model_copy(update={"confidence": chance})


def test_a_ticket_that_fits_gets_the_best_workflow_and_keeps_all_candidates(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "planned"
    assert ticket["overall"] == pytest.approx(4.2)
    assert [c["rank"] for c in ticket["candidates"]] == [1, 2]
    assert ticket["candidates"][0]["id"] == ticket["workflow_id"]


def test_each_stage_is_timed_on_the_workflow(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    url = gateway.ticket(ticket_id)["candidates"][0]["url"]
    assert set(gateway.client.get(url).json()["seconds"]) == {"retrieve", "plan", "score"}


def test_a_ticket_that_surely_fits_has_nothing_against_it(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert (ticket["fit"], ticket["against"]) == ("sure", [])
    workflow = gateway.client.get(ticket["candidates"][0]["url"]).json()
    assert (workflow["fit"], workflow["against"]) == ("sure", [])


def test_the_closest_known_procedure_is_planned_and_says_what_speaks_against_it(gateway):
    gateway.retrieval.context = with_chance(gateway, BETWEEN)
    ticket_id = gateway.post({"id": "T-1", "title": "PsuFailed on a spine"})["id"]
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "planned"
    assert ticket["fit"] == "unsure"
    assert any(f"{BETWEEN:.0%}" in objection for objection in ticket["against"])
    assert any("names PsuFailed" in objection for objection in ticket["against"])
    workflow = gateway.client.get(ticket["candidates"][0]["url"]).json()
    assert (workflow["fit"], workflow["against"]) == ("unsure", ticket["against"])


def test_a_ticket_whose_candidates_are_all_poor_gets_the_best_as_not_sure(gateway):
    gateway.scorer.good_enough = False
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert (ticket["status"], ticket["fit"]) == ("planned", "unsure")
    assert any("4.2 of 5" in objection for objection in ticket["against"])


def test_chances_set_by_hand_win(make_gateway):
    strict = make_gateway(sure_from=0.99, unsure_from=0.95)
    ticket_id = strict.post(TICKET)["id"]
    strict.work()
    assert strict.ticket(ticket_id)["status"] == "refused"


def test_the_readings_go_on_to_the_planner_and_to_the_scorer(gateway):
    reading = ServedReading(reading=Reading(reader=Reader.MODEL))
    page = PageReading(document_id="runbooks/FanFailed.md", title="Fan failed", served=reading)
    gateway.retrieval.context = gateway.retrieval.context.model_copy(update={"pages": (page,)})
    gateway.post(TICKET)
    gateway.work()
    assert gateway.planner.requests[0].pages == (page,)
    assert gateway.scorer.requests[0].pages == (page,)


def test_a_ticket_that_waited_too_long_asks_no_model(gateway, monkeypatch):
    gateway.post(TICKET)
    late = time.time() + 10_000
    monkeypatch.setattr("services.tickets.walk.walk.time", lambda: late)
    gateway.work()
    assert [request.deadline_s for request in gateway.planner.requests] == [0.0]


def test_each_candidate_is_told_as_it_comes(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    kinds = [event.kind for event in events(gateway, ticket_id)]
    assert kinds.count("candidate") == 2
    assert kinds.index("candidate") < kinds.index("drafted")


def test_a_ticket_that_nothing_fits_is_refused_with_what_came_closest(gateway):
    chunks = gateway.retrieval.context.chunks
    gateway.retrieval.context = RetrievedContext(chunks=chunks, confidence=0.01)
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "refused"
    assert "1%" in ticket["reason"]
    assert ticket["nearest"][0]["document_id"] == "runbooks/FanFailed.md"
    assert ticket["candidates"] == []


def test_a_context_without_any_procedure_is_refused(gateway):
    gateway.planner.workflows = []
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "refused"


def test_a_walk_run_again_changes_nothing(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    before = gateway.ticket(ticket_id)
    gateway.walk.run(ticket_id)
    assert gateway.ticket(ticket_id) == before
    assert len(gateway.retrieval.requests) == 1


def test_a_walk_killed_before_its_end_is_walked_again_and_stored_once(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.retrieval.failures = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planning"
    gateway.outbox.restart()
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planned"
    assert gateway.work() == 0


def test_a_service_that_does_not_answer_leaves_the_ticket_to_be_walked_later(gateway):
    gateway.retrieval.failures = [UnavailableError("busy")]
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planning"
    gateway.outbox.restart()
    gateway.work()
    assert gateway.ticket(ticket_id)["status"] == "planned"


def test_a_refusal_of_a_service_fails_the_ticket_at_once_with_its_reason(gateway):
    gateway.retrieval.failures = [InvalidInputError("too odd")]
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "failed"
    assert "too odd" in ticket["reason"]
    assert gateway.work() == 0


def test_a_defect_is_tried_again_and_then_fails_the_ticket(gateway):
    gateway.retrieval.failures = [ZeroDivisionError("oops") for _ in range(3)]
    ticket_id = gateway.post(TICKET)["id"]
    for _ in range(3):
        gateway.work()
        gateway.outbox.restart()
    ticket = gateway.ticket(ticket_id)
    assert ticket["status"] == "failed"
    assert "oops" in ticket["reason"]


def test_two_workers_with_one_ticket_store_it_once(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    plan = gateway.planner.plan

    def planned_by_the_other_meanwhile(request):
        gateway.planner.plan = plan
        gateway.walk.run(ticket_id)
        return plan(request)

    gateway.planner.plan = planned_by_the_other_meanwhile
    gateway.walk.run(ticket_id)
    assert len(gateway.ticket(ticket_id)["candidates"]) == 2


def test_a_stage_that_takes_long_is_told_while_it_lasts(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    seen = []

    def has_planning_event(those):
        return any(each.kind == "planning" for each in those)

    def retrieve_slowly(request):
        kinds = [
            each.kind for each in eventually(lambda: events(gateway, ticket_id), has_planning_event)
        ]
        seen.extend(kinds)
        return gateway.retrieval.context

    gateway.retrieval.retrieve = retrieve_slowly
    gateway.work()
    assert seen == ["received", "planning"]
    kinds = [event.kind for event in events(gateway, ticket_id)]
    assert kinds[:3] == ["received", "planning", "retrieved"]
    assert kinds[-2:] == ["drafted", "planned"]


def events(gateway, ticket_id):
    return Events(gateway.database).after(0, ticket_id=ticket_id)
