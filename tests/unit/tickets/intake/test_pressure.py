"""What the gateway takes in at most."""

import pytest

from services.contracts.ticket import TicketDraft
from services.tickets.intake.delivery import Delivery, Resolution
from services.tickets.intake.pressure import Pressure, SourceTooFastError, TooMuchWaitsError
from services.tickets.settings import GatewaySettings


class Clock:
    """Stands still until it is moved."""

    now = 0.0

    def __call__(self):
        return self.now


class Outbox:
    """Says how many tasks wait, and counts how often it was asked."""

    waiting = calls = 0

    def counts(self):
        self.calls += 1
        return {"waiting": self.waiting, "parked": 0}


def delivery(source, alerts):
    return Delivery(tickets=(TicketDraft(source=source, external_id="", title="x"),) * alerts)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def outbox():
    return Outbox()


@pytest.fixture
def pressure(clock, outbox):
    settings = GatewaySettings(
        _env_file=None, source_per_minute=60, source_rates={"zabbix": 6}, max_waiting=100
    )
    return Pressure(settings, outbox, clock=clock)


def test_one_source_that_sends_too_much_leaves_the_others_room(pressure, clock):
    pressure.admit(delivery("grafana", 60))
    with pytest.raises(SourceTooFastError) as refused:
        pressure.admit(delivery("grafana", 5))
    assert refused.value.headers() == {"retry-after": "5"}
    pressure.admit(delivery("jira", 1))
    clock.now += 5
    pressure.admit(delivery("grafana", 5))


def test_a_source_may_have_a_rate_of_its_own(pressure):
    pressure.admit(delivery("zabbix", 6))
    with pytest.raises(SourceTooFastError, match="6 alerts a minute"):
        pressure.admit(delivery("zabbix", 1))


def test_a_delivery_larger_than_the_rate_is_taken_and_paid_for_afterwards(pressure, clock):
    pressure.admit(delivery("grafana", 180))
    clock.now += 60
    with pytest.raises(SourceTooFastError):
        pressure.admit(delivery("grafana", 1))
    clock.now += 61
    pressure.admit(delivery("grafana", 1))


def test_new_tickets_wait_outside_while_too_much_waits_inside(pressure, outbox, clock):
    outbox.waiting = 101
    with pytest.raises(TooMuchWaitsError) as refused:
        pressure.admit(delivery("jira", 1))
    assert int(refused.value.headers()["retry-after"]) > 1
    over = Resolution("jira", "T-1", "")
    pressure.admit(Delivery(resolved=(over,)))
    outbox.waiting, clock.now = 3, 2.0
    pressure.admit(delivery("jira", 1))


def test_the_database_is_asked_once_a_second(pressure, outbox, clock):
    for _ in range(50):
        pressure.admit(delivery("jira", 1))
    assert outbox.calls == 1


def test_a_refused_delivery_is_answered_429_and_leaves_nothing(make_gateway):
    gateway = make_gateway(source_per_minute=2)
    gateway.post([{"title": "a"}, {"title": "b"}])
    refused = gateway.client.post("/workflow", json={"title": "c"})
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["error"] == "SourceTooFastError"
    assert len(gateway.client.get("/v1/tickets").json()["tickets"]) == 2
