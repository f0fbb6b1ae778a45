"""Capacities as Markdown: the table of docs/operate/scaling.md."""

from collections.abc import Iterable
from pathlib import Path

from evaluation.measures.capacity import SERVICES, Capacity, Costs, Demand, capacity
from services.kit.files import read_text, write_text

BEGIN, END = "<!-- capacity: begin -->", "<!-- capacity: end -->"

SHOWN = (5_000, 14_800, 20_000, 100_000, 300_000, 1_000_000)
"""Tickets a month. 14,800 is the load of FlowXpert's paper: 34,488 tickets in ten weeks."""

_OF_TICKET = {
    "intake": "an alert that makes a ticket (gateway)",
    "repeat": "an alert on a ticket that is there (gateway)",
    "view": "looking at the list and at a ticket (gateway)",
    "walk": "walking a ticket, without the services (gateway worker)",
    "retrieval": "retrieval",
    "planner": "planner",
    "scorer": "scorer",
    "document": "reading a document (ingestion worker)",
}


def markdown(costs: Costs, demands: Iterable[Demand]) -> str:
    """What was measured, and what each demand takes."""
    cost_values = costs.model_dump()
    lines = ["| CPU time of | ms |", "|---|---:|"]
    lines += [f"| {what} | {cost_values[name]:.1f} |" for name, what in _OF_TICKET.items()]
    stored = (
        f"A ticket takes {costs.ticket_bytes / 1000:.1f} kB in the database, a document "
        f"{costs.document_bytes / 1000:.0f} kB there and {costs.vectors:.1f} vectors; a process "
        f"that holds everything took {costs.process_mb:.0f} MB at most."
    )
    head = (
        f"| tickets a month | peak tickets/s | peak alerts/s | {' | '.join(SERVICES)} | busy cores "
        "| memory, GB | database, GB | vectors, GB |"
    )
    lines += ["", stored, "", head, "|" + "---:|" * (len(SERVICES) + 7)]
    return "\n".join([*lines, *(_row(capacity(costs, demand)) for demand in demands)]) + "\n"


def put(page: Path, text: str) -> None:
    """Replace what stands between the marks of the page."""
    before, begin, rest = read_text(page).partition(BEGIN)
    _, end, after = rest.partition(END)
    write_text(page, f"{before}{begin}\n\n{text}\n{end}{after}")


def _row(need: Capacity) -> str:
    rate = need.demand.tickets_per_s
    cells = [
        f"{need.demand.tickets:,.0f}",
        f"{rate:.2f}",
        f"{rate * need.demand.alerts:.1f}",
        *(str(need.processes[name]) for name in SERVICES),
        f"{sum(need.cores.values()):.1f}",
        f"{need.memory_gb:.0f}",
        f"{need.database_gb:.1f}",
        f"{need.vectors_gb:.2f}",
    ]
    return f"| {' | '.join(cells)} |"
