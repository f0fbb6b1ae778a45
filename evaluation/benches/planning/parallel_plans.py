"""The model's answers for many tickets at a time: a server is at its best with many calls."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from evaluation.benches.planning.workflows import Advance
from services.contracts.planner import Planner, PlanRequest


def ask_ahead(
    planner: Planner, requests: Iterable[PlanRequest], at_once: int, advance: Advance
) -> None:
    """Plans each, so that what its model answers is in its record when it is measured.

    What fails here is asked again then.
    """
    with ThreadPoolExecutor(at_once) as pool:
        for _ in pool.map(planner.plan, requests):
            advance()
