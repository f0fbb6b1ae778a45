"""Deliveries that come at one moment share a transaction, and each gets what it would get alone."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DataError

from services.contracts.gateway import Accepted
from services.contracts.ticket import TicketDraft
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.intake.delivery import Delivery
from services.tickets.intake.intake import Intake
from tests.postgres import postgres_url

AT_ONCE = 24


@pytest.fixture(params=["sqlite", "postgres"])
def database(request):
    database = Database.memory() if request.param == "sqlite" else Database(postgres_url())
    database.migrate("kit", "knowledge", "ingestion", "procedure", "gateway")
    with database.session() as session:
        for table in ("outbox", "gateway_ticket", "gateway_alert", "gateway_event"):
            session.execute(text(f"DELETE FROM {table}"))
    yield database
    database.close()


@pytest.fixture
def intake(database):
    return Intake(database, Outbox(database), repeats_within_s=1800.0)


def alert(number: int | str, **fields: object) -> Delivery:
    draft = {"source": "generic", "external_id": f"A-{number}", "title": f"Fan {number} failed"}
    ticket = TicketDraft(**{**draft, "alert_name": f"FanFailed{number}", **fields})
    return Delivery(tickets=(ticket,))


def at_once(intake: Intake, deliveries: list[Delivery]) -> list[Accepted]:
    """All of them in one batch: they gather while somebody else has the turn."""
    group = intake._group_commit
    with ThreadPoolExecutor(len(deliveries)) as pool:
        with group._turn:
            waiting = [pool.submit(intake.accept, each) for each in deliveries]
            until = time.monotonic() + 10
            while len(group._waiting) < len(deliveries):
                assert time.monotonic() < until
                time.sleep(0.01)
        return [each.result(30) for each in waiting]


def counted(database: Database, table: str) -> int:
    with database.session() as session:
        return session.execute(text(f"SELECT COUNT(*) FROM {table}")).scalar_one()


def test_what_is_new_at_one_moment_costs_few_statements(database, intake):
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *a: statements.append(a[2]))
    answers = at_once(intake, [alert(number) for number in range(AT_ONCE)])
    tickets = [each.tickets[0] for each in answers]
    assert all(each.created for each in tickets)
    assert len({each.id for each in tickets}) == AT_ONCE
    assert counted(database, "gateway_ticket") == counted(database, "gateway_alert") == AT_ONCE
    assert counted(database, "outbox") == counted(database, "gateway_event") == AT_ONCE
    assert len(statements) < AT_ONCE


def test_one_fault_told_of_by_many_at_one_moment_is_one_ticket(database, intake):
    answers = at_once(intake, [alert(n, title="Fan", alert_name="Fan") for n in range(AT_ONCE)])
    assert len({each.tickets[0].id for each in answers}) == 1
    assert sum(each.tickets[0].created for each in answers) == 1
    assert counted(database, "outbox") == 1
    with database.session() as session:
        assert session.execute(text("SELECT alerts FROM gateway_ticket")).scalar_one() == AT_ONCE


def test_one_delivery_sent_by_many_at_one_moment_is_stored_once(database, intake):
    answers = at_once(intake, [alert(1) for _ in range(AT_ONCE)])
    assert len({each.tickets[0].id for each in answers}) == 1
    assert counted(database, "gateway_ticket") == counted(database, "gateway_alert") == 1


def test_a_delivery_of_known_and_new_alerts_is_stored_whole(database, intake):
    repeat, new = alert(1).tickets[0], alert(2).tickets[0]
    (first,) = intake.accept(Delivery(tickets=(repeat,))).tickets
    both = intake.accept(Delivery(tickets=(repeat, new))).tickets
    assert {each.external_id: each.created for each in both} == {"A-1": False, "A-2": True}
    assert first.id in {each.id for each in both}
    assert counted(database, "gateway_ticket") == counted(database, "outbox") == 2


def test_what_one_of_them_breaks_the_others_are_stored_without(database, intake, monkeypatch):
    whole = Intake._store

    def broken(self, session, batch):
        if len(batch) > 1:
            raise DataError("INSERT", {}, ValueError("a character that no text holds"))
        return whole(self, session, batch)

    monkeypatch.setattr(Intake, "_store", broken)
    answers = at_once(intake, [alert(number) for number in range(AT_ONCE)])
    assert all(each.tickets[0].created for each in answers)
    assert counted(database, "gateway_ticket") == AT_ONCE


def test_two_processes_that_are_told_of_one_fault_make_one_ticket(database):
    intakes = [Intake(database, Outbox(database), repeats_within_s=1800.0) for _ in range(2)]
    for round_ in range(10):
        go = Barrier(2)

        def deliver(place: int, go: Barrier = go, round_: int = round_) -> Accepted:
            go.wait(10)
            name = f"Pump{round_}"
            return intakes[place].accept(alert(f"{round_}-{place}", title=name, alert_name=name))

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(deliver, range(2)))
        assert len({each.tickets[0].id for each in answers}) == 1
    assert counted(database, "gateway_ticket") == 10
