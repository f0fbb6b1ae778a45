"""The sizes follow from the costs, as the page says."""

import pytest

from evaluation.measures.capacity import BUSY, LEAST, MONTH_S, Costs, Demand, capacity

COSTS = Costs(
    intake=10,
    repeat=2,
    view=4,
    walk=100,
    retrieval=50,
    planner=20,
    scorer=30,
    document=500,
    ticket_bytes=10_000,
    document_bytes=20_000,
    vectors=4,
    process_mb=500,
)


def test_cores_are_tickets_a_second_times_the_seconds_of_a_ticket():
    need = capacity(COSTS, Demand(tickets=MONTH_S, peak=3, alerts=6, views=5))
    assert need.demand.tickets_per_s == pytest.approx(3)
    assert need.cores["gateway-worker"] == pytest.approx(0.3)
    assert need.cores["gateway"] == pytest.approx(3 * (10 + 5 * 2 + 5 * 4) / 1000)


def test_processes_are_busy_in_part_only_and_two_at_least():
    few = capacity(COSTS, Demand(tickets=1))
    assert set(few.processes.values()) == {LEAST}
    many = capacity(COSTS, Demand(tickets=MONTH_S, peak=100))
    for name, cores in many.cores.items():
        assert cores / many.processes[name] <= BUSY
        assert cores / (many.processes[name] - 1) > BUSY or many.processes[name] == LEAST


def test_memory_counts_every_process_and_those_of_ingestion():
    need = capacity(COSTS, Demand(tickets=1))
    assert need.memory_gb == pytest.approx((5 * LEAST + 2) * 0.5)


def test_storage_grows_with_what_is_kept():
    year = capacity(COSTS, Demand(tickets=1000, documents=100, months=12))
    assert year.database_gb == pytest.approx((12_000 * 10_000 + 100 * 20_000) / 1e9)
    assert year.vectors_gb == pytest.approx(100 * 4 * 384 * 4 * 1.5 / 1e9)


def test_ten_times_the_tickets_take_ten_times_the_cores():
    one, ten = (capacity(COSTS, Demand(tickets=n)) for n in (100_000, 1_000_000))
    assert sum(ten.cores.values()) == pytest.approx(10 * sum(one.cores.values()))
