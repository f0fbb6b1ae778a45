"""What the gateway tells the executor of workflows that surely fit, and what it hears of looks."""

import pytest

from services.contracts.execution import LookAtOnce
from services.contracts.gateway import RunNote, StepSeen
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.errors import NotFoundError, UnavailableError
from services.tickets.run_notes import DiagnosticRunStarter, RunNotes
from services.tickets.ticket.events import Events
from services.tickets.ticket.queries import Queries
from services.tickets.walk.activity import has_human_activity
from services.tickets.walk.fit import Thresholds

TICKET = {"id": "T-1", "title": "Fan 2 has failed"}
EXECUTOR = Caller("api key", CallerKind.KEY, "key:platform")
"""As the executor calls from another process."""


def walked(gateway, chance=None):
    if chance is not None:
        gateway.retrieval.context = gateway.retrieval.context.model_copy(
            update={"confidence": chance}
        )
    ticket_id = gateway.post(TICKET)["id"]
    gateway.work()
    gateway.work()
    return gateway.ticket(ticket_id)


def note_of(ticket, **more):
    seen = StepSeen(
        step=more.pop("step", "s1"), answer="No", target="leaf-1", because="state = Idle"
    )
    fields = {"run_id": "r1", "outcome": "handed_over", "is_look": True, "seen": (seen,), **more}
    return RunNote(**{"workflow_id": ticket["workflow_id"], **fields})


def of_runs(gateway):
    return RunNotes(gateway.database, gateway.outbox, Queries(gateway.database), gateway.write_back)


def events(gateway, ticket, kind):
    return [e.kind for e in Events(gateway.database).of_ticket(ticket["id"])].count(kind)


def test_the_executor_hears_once_of_a_workflow_that_surely_fits(make_gateway):
    gateway = make_gateway(looks=True)
    ticket = walked(gateway)
    assert gateway.looks == [(ticket["id"], ticket["workflow_id"])]


def test_it_does_not_hear_of_an_unsure_one(make_gateway):
    gateway, fitted = make_gateway(looks=True), Thresholds.shipped()
    assert walked(gateway, (fitted.unsure_from + fitted.sure_from) / 2)["fit"] == "unsure"
    assert gateway.looks == []


def test_without_an_executor_nothing_is_queued(gateway):
    walked(gateway)
    assert gateway.looks == []


class Execution:
    def __init__(self, error=None):
        self.wanted = []
        self.error = error

    def look_at_once(self, wanted):
        self.wanted.append(wanted)
        if self.error:
            raise self.error


def test_the_task_asks_the_executor_and_lets_a_purged_ticket_go():
    execution = Execution()
    DiagnosticRunStarter(lambda: execution).run("t", "w")
    assert execution.wanted == [LookAtOnce(ticket_id="t", workflow_id="w")]
    gone = Execution(NotFoundError("no ticket"))
    DiagnosticRunStarter(lambda: gone).run("t", "w")
    assert len(gone.wanted) == 1


def test_an_executor_that_is_away_is_told_later():
    away = Execution(UnavailableError("away"))
    with pytest.raises(UnavailableError):
        DiagnosticRunStarter(lambda: away).run("t", "w")


def test_a_look_is_kept_once_and_changes_nothing_on_the_ticket(gateway):
    ticket = walked(gateway)
    with acting_as(EXECUTOR):
        of_runs(gateway).note_run(ticket["id"], note_of(ticket))
        of_runs(gateway).note_run(ticket["id"], note_of(ticket))
    assert events(gateway, ticket, "looked") == 1
    assert events(gateway, ticket, "ran") == 0
    assert events(gateway, ticket, "told") == 0
    now = gateway.ticket(ticket["id"])
    assert now["status"] == ticket["status"]
    with gateway.database.session() as session:
        assert not has_human_activity(session, ticket["id"], besides=("received",))


def test_the_page_shows_what_a_look_tells_beside_the_question_and_decides_nothing(gateway):
    ticket = walked(gateway)
    workflow = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    step = workflow["steps"][0]["id"]
    evil = StepSeen(step=step, answer="No", target="leaf-1", because="<img src=x> = Idle")
    of_runs(gateway).note_run(ticket["id"], note_of(ticket, seen=(evil,)))
    page = gateway.client.get(f"/tickets/{ticket['id']}").text
    assert "A look at <b>leaf-1</b> says: &lt;img src=x&gt; = Idle" in page
    assert page.count('class="settled looked"') == 1
    assert "✓ No" not in page
    assert "what the workflow asks was looked at" in page.lower()


def test_a_look_at_another_workflow_is_not_shown(gateway):
    ticket = walked(gateway)
    workflow = gateway.client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
    step = workflow["steps"][0]["id"]
    of_runs(gateway).note_run(ticket["id"], note_of(ticket, step=step, workflow_id="other"))
    assert "A look at" not in gateway.client.get(f"/tickets/{ticket['id']}").text
