"""What people did on a ticket when it is walked again: at the same step, or listed."""

import pytest

from services.contracts.adoption import MarkPatch
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.tickets.adoption.carry_over import StepSnapshot
from services.tickets.adoption.feedback_recorder import put_mark
from services.tickets.ticket.lifecycle import walk_again
from tests.unit.gateway.fakes import fan_workflow

TICKET = {"id": "T-1", "title": "Fan 2 of spine-01 failed"}
ANA, BEN = (Caller(name, CallerKind.PERSON) for name in ("ana", "ben"))


@pytest.fixture
def ticket(gateway):
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


def again(gateway, ticket, *, texts=None, settled=""):
    """The ticket walked again; of the workflow some steps say something else."""
    base = fan_workflow()
    steps = tuple(
        step.model_copy(
            update={
                "id": f"new-{step.id}",
                "text": (texts or {}).get(step.id, step.text),
                "settled": settled if step.id == "ask" else "",
            }
        )
        for step in base.steps
    )
    edges = tuple(
        edge.model_copy(update={"source": f"new-{edge.source}", "target": f"new-{edge.target}"})
        for edge in base.transitions
    )
    gateway.planner.workflows = [base.model_copy(update={"steps": steps, "transitions": edges})]
    with gateway.database.session() as session:
        walk_again(session, gateway.outbox, ticket["id"])
    gateway.work()
    now = gateway.ticket(ticket["id"])
    assert now["workflow_id"] != ticket["workflow_id"]
    return now


def mark(gateway, ticket, step, by=ANA, **fields):
    with acting_as(by), gateway.database.session() as session:
        put_mark(session, ticket["workflow_id"], step, MarkPatch(**fields))


def work(gateway, ticket):
    return gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()


def at(work_done, step):
    return next((each for each in work_done["steps"] if each["step"] == step), None)


def test_marks_stay_at_the_same_step_with_who_and_when(gateway, ticket):
    mark(gateway, ticket, "look", state="done", seen="It stands still")
    mark(gateway, ticket, "ask", branch="yes")
    before = at(work(gateway, ticket), "look")
    work_done = work(gateway, now := again(gateway, ticket))
    assert work_done["left_behind"] == []
    after = at(work_done, "new-look")
    assert after | {"step": "", "carried_from": ""} == before | {"step": "", "carried_from": ""}
    assert after["carried_from"] == ticket["workflow_id"]
    assert (after["marked_by"], at(work_done, "new-ask")["branch"]) == ("ana", "yes")
    assert (work_done["next"], work_done["used"]) == ("new-replace", 1)
    mark(gateway, now, "new-look", by=BEN, state="open")
    undone = at(work(gateway, now), "new-look")
    assert (undone["state"], undone["seen"], undone["seen_by"]) == (
        "open",
        "It stands still",
        "ana",
    )


def test_a_step_that_says_something_else_keeps_no_tick_and_it_is_listed(gateway, ticket):
    mark(gateway, ticket, "look", state="done", seen="It stands still")
    work_done = work(gateway, again(gateway, ticket, texts={"look": "Show the power supplies"}))
    assert work_done["steps"] == []
    (left,) = work_done["left_behind"]
    assert (left["text"], left["said"]["state"]) == ("Show the fans", "done")
    assert (left["said"]["seen"], left["said"]["marked_by"]) == ("It stands still", "ana")


def test_what_is_sent_for_the_earlier_workflow_afterwards_is_there_too(gateway, ticket):
    now = again(gateway, ticket)
    mark(gateway, ticket, "look", state="done", seen="Late")
    assert at(work(gateway, now), "new-look")["seen"] == "Late"
    mark(gateway, now, "new-look", by=BEN, seen="Later", was="Late")
    mark(gateway, ticket, "look", seen="Later still", was="Late")
    work_done = work(gateway, now)
    assert at(work_done, "new-look")["seen"] == "Later"
    steps_by_note = {left["said"]["seen"]: left["step"] for left in work_done["left_behind"]}
    assert steps_by_note == {"Late": "new-look", "Later still": "new-look"}


def test_a_branch_that_was_answered_otherwise_is_listed(gateway, ticket):
    mark(gateway, ticket, "ask", branch="yes", seen="Both stand")
    work_done = work(gateway, again(gateway, ticket, settled="no"))
    assert work_done["steps"] == []
    assert [(left["reason"], left["step"]) for left in work_done["left_behind"]] == [
        ("answered", "new-ask")
    ]


def test_a_mark_comes_back_with_its_step(gateway, ticket):
    mark(gateway, ticket, "look", state="done", seen="It stands still")
    between = again(gateway, ticket, texts={"look": "Show the power supplies"})
    mark(gateway, between, "new-replace", state="done")
    work_done = work(gateway, again(gateway, between))
    assert {each["step"] for each in work_done["steps"]} == {"new-look", "new-replace"}
    assert work_done["left_behind"] == []


def test_a_note_of_another_is_kept_beside_the_one_that_took_its_place(gateway, ticket):
    mark(gateway, ticket, "look", seen="Fan 2 stands")
    mark(gateway, ticket, "look", by=BEN, seen="Fan 3 stands", was="")
    work_done = work(gateway, ticket)
    assert (at(work_done, "look")["seen"], at(work_done, "look")["seen_by"]) == (
        "Fan 3 stands",
        "ben",
    )
    (left,) = work_done["left_behind"]
    assert (left["said"]["seen"], left["said"]["seen_by"], left["step"]) == (
        "Fan 2 stands",
        "ana",
        "look",
    )
    mark(gateway, ticket, "look", by=BEN, seen="Fan 3 stands still", was="Fan 3 stands")
    assert len(work(gateway, ticket)["left_behind"]) == 1


def test_an_edit_under_a_mark_takes_the_tick_and_lists_it(gateway, ticket):
    mark(gateway, ticket, "look", state="done")
    edit = {"edits": [{"edit": "change", "step": "look", "text": "Show the trays"}]}
    address = f"/v1/workflows/{ticket['workflow_id']}/versions"
    version = gateway.client.post(address, json=edit).json()
    shown = gateway.ticket(ticket["id"])
    work_done = work(gateway, shown)
    assert (at(work_done, "look"), work_done["next"]) == (None, "look")
    assert [left["reason"] for left in work_done["left_behind"]] == ["changed"]
    assert work_done["used"] == 1
    listed = work(gateway, again(gateway, shown))["left_behind"]
    assert {left["kind"] for left in listed} == {"version"}
    assert listed[0]["workflow_id"] == version["id"]


def test_a_rejected_step_that_was_carried_over_is_taken_back_where_it_was_judged(gateway, ticket):
    address = "/v1/workflows/{}/steps/{}/judgement"
    judgement = {"verdict": "rejected", "word": "it hangs"}
    gateway.client.put(address.format(ticket["workflow_id"], "look"), json=judgement)
    now = again(gateway, ticket)
    assert at(work(gateway, now), "new-look")["word"] == "it hangs"
    gateway.work()
    assert gateway.doubts.open
    gateway.client.put(address.format(now["workflow_id"], "new-look"), json={"verdict": ""})
    while gateway.work():
        pass
    assert not gateway.doubts.open


def test_a_verdict_on_the_workflow_before_is_listed(gateway, ticket):
    address = f"/v1/workflows/{ticket['workflow_id']}/acceptance"
    gateway.client.put(address, json={"word": "did it"})
    now = again(gateway, ticket)
    (left,) = work(gateway, now)["left_behind"]
    assert (left["kind"], left["said"]["word"]) == ("workflow", "did it")
    page = gateway.client.get(f"/tickets/{ticket['id']}").text
    assert "did it" in page


def test_a_ticket_that_nothing_fits_any_more_lists_all(gateway, ticket):
    mark(gateway, ticket, "look", state="done", seen="It stands still")
    gateway.retrieval.context = gateway.retrieval.context.model_copy(
        update={"chunks": (), "confidence": 0.0}
    )
    with gateway.database.session() as session:
        walk_again(session, gateway.outbox, ticket["id"])
    gateway.work()
    assert gateway.ticket(ticket["id"])["status"] == "refused"
    listed = gateway.client.get(f"/v1/tickets/{ticket['id']}/left-behind").json()
    assert [left["said"]["seen"] for left in listed] == ["It stands still"]
    assert "It stands still" in gateway.client.get(f"/tickets/{ticket['id']}").text
    assert gateway.client.get("/v1/tickets/nobody/left-behind").status_code == 404


def test_steps_that_say_the_same_are_told_apart_by_their_place():
    first, second = (StepSnapshot(text="Did that help?", node=n, document="a.md") for n in "12")
    assert first.says_same(second)
    assert not first.is_at(second)
