"""How long tickets are kept, and what is left of one that is gone."""

import time

import pytest
from sqlalchemy import func, select, update

from services.gateway.work import schedule_purge
from services.kit.access.audit import AuditFilter, AuditLog
from services.kit.ids import first_id_at
from services.kit.migrations import room_tables
from services.kit.sql.database import Base
from services.kit.tables import OutboxRow
from services.tickets.retention import Retention
from services.tickets.settings import GatewaySettings
from services.tickets.tables import (
    EventRow,
    IdempotencyRow,
    ScoreRow,
    TicketRow,
    WorkflowRow,
)
from services.tickets.ticket.queries import TicketNotFoundError
from services.tickets.ticket.queue import WALK_TASK
from tests.waiting import eventually

DAY = 86_400


def count(gateway, table, *where):
    with gateway.database.session() as session:
        return session.scalar(select(func.count()).select_from(table).where(*where))


def at(days):
    """A clock that is so many days ahead."""
    return lambda: time.time() + days * DAY


@pytest.fixture
def ticket(gateway, group):
    """A ticket with a workflow, posted under an idempotency key."""
    answer = gateway.post(group, headers={"Idempotency-Key": "once"})
    gateway.work()
    return answer["tickets"][0]["id"]


HANGING = (TicketRow, WorkflowRow, ScoreRow, EventRow, IdempotencyRow)


def test_an_old_ticket_goes_with_all_that_hangs_on_it(gateway, ticket):
    assert all(count(gateway, table) for table in HANGING)
    keeping = Retention(gateway.database, 30, clock=at(31))
    assert keeping.purge(dry=True).model_dump() == {"tickets": 1, "answers": 1}
    assert count(gateway, TicketRow) == 1
    assert keeping.purge().model_dump() == {"tickets": 1, "answers": 1}
    assert not any(count(gateway, table) for table in HANGING)
    assert gateway.client.get(f"/v1/tickets/{ticket}").status_code == 404
    assert keeping.purge().tickets == 0


def test_the_audit_log_keeps_a_line_without_content(gateway, ticket):
    Retention(gateway.database, 30, clock=at(31)).purge()
    lines = AuditLog(gateway.database).lines(AuditFilter(subject=f"ticket {ticket}"))
    assert [line["action"] for line in lines] == [
        "ticket.purged",
        "ticket.planned",
        "ticket.received",
    ]
    assert lines[0]["before"] == {"source": "alertmanager", "state": "planned"}
    assert lines[1]["before"] == {"state": "received"}
    assert not any(word in str(lines) for word in ("spine-01", "Fan", "stands still"))


def test_what_is_younger_or_still_on_its_walk_stays(gateway, ticket, group, alert):
    waiting = gateway.post({**group, "alerts": [alert | {"fingerprint": "f2"}]})
    assert Retention(gateway.database, 30, clock=at(29)).purge().tickets == 0
    assert Retention(gateway.database, 30, clock=at(31)).purge().tickets == 1
    assert gateway.ticket(waiting["tickets"][0]["id"])["status"] == "received"
    assert count(gateway, OutboxRow, OutboxRow.task == WALK_TASK) == 1


def test_days_count_from_the_last_change(gateway, ticket):
    with gateway.database.session() as session:
        session.execute(update(TicketRow).values(updated_at=time.time() + 10 * DAY))
    assert Retention(gateway.database, 30, clock=at(31)).purge().tickets == 0
    assert Retention(gateway.database, 30, clock=at(41)).purge().tickets == 1


def test_a_ticket_that_is_named_goes_and_others_stay(gateway, ticket, group, alert):
    other = gateway.post({**group, "alerts": [alert | {"fingerprint": "f2"}]})["tickets"][0]["id"]
    with pytest.raises(TicketNotFoundError):
        Retention(gateway.database, 30).forget([ticket, "01a20000"])
    assert count(gateway, TicketRow) == 2
    gone = Retention(gateway.database, 30).forget([ticket])
    assert gone.model_dump() == {"tickets": 1, "answers": 1}
    assert gateway.ticket(other)["status"] == "received"


def test_a_walk_that_is_under_way_does_not_bring_its_ticket_back(gateway, group, monkeypatch):
    ticket = gateway.post(group)["tickets"][0]["id"]
    plan = gateway.planner.plan

    def purged_meanwhile(request):
        Retention(gateway.database, 30).forget([ticket])
        return plan(request)

    monkeypatch.setattr(gateway.planner, "plan", purged_meanwhile)
    gateway.work()
    assert not any(count(gateway, table) for table in HANGING)
    gateway.work()
    assert count(gateway, OutboxRow, OutboxRow.task == WALK_TASK) == 0


def test_many_go_in_parts_and_no_more_than_is_asked_for(gateway, group, alert, monkeypatch):
    monkeypatch.setattr("services.tickets.retention._AT_ONCE", 3)
    alerts = [alert | {"fingerprint": f"f{number}"} for number in range(10)]
    gateway.post({**group, "alerts": alerts})
    gateway.work()
    keeping = Retention(gateway.database, 30, clock=at(31))
    assert keeping.purge(most=4).tickets == 4
    assert keeping.purge().tickets == 6


def test_every_table_that_speaks_of_a_ticket_goes_with_it():
    """A column `ticket_id` without this would leave something behind."""
    for table in room_tables("gateway"):
        for column in table.columns:
            if column.name != "ticket_id":
                continue
            (key,) = column.foreign_keys
            assert (key.column.table.name, key.ondelete) == ("gateway_ticket", "CASCADE"), table
    assert "gateway_ticket" in Base.metadata.tables


def test_the_job_runs_where_a_time_is_set(gateway, ticket):
    assert schedule_purge(gateway.database, GatewaySettings(_env_file=None)) is None
    job = schedule_purge(gateway.database, GatewaySettings(_env_file=None, keep_days=1e-9))
    job._first_after_s = 0.0
    job.start()
    eventually(lambda: count(gateway, TicketRow) == 0)
    job.stop()
    assert not job.is_alive


def test_ids_made_before_a_time_sort_below_its_first_id():
    from services.kit.ids import time_ordered_id

    before = time_ordered_id()
    time.sleep(0.005)
    first = first_id_at(time.time())
    time.sleep(0.005)
    assert before < first < time_ordered_id()
