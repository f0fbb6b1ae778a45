"""Plans that several planners share: one call of the model for a ticket and a part of a context."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.benches.planning.context_parts import ContextPart
from evaluation.material.metered import MeteredChatModel, Spent
from services.contracts.planner import Planner, PlanRequest, PlanResponse
from services.kit.errors import UnavailableError
from services.planner.metrics import SAMPLES

MOST_FAILURES = 3
"""Calls in a row without an answer after which a benchmark gives up: it would measure an outage."""


class ModelLostError(UnavailableError):
    """The model stopped answering in the middle of a benchmark."""


@dataclass(frozen=True)
class Cost:
    """What the plans of one ticket took."""

    spent: Spent
    samples: Mapping[str, int]
    """The model's samples by outcome, see `flowxpert_planner_samples_total`."""


class SharedPlans:
    """Asks the planner once for a ticket and a part of its context, and remembers."""

    def __init__(self, planner: Planner, meter: MeteredChatModel) -> None:
        """`planner` asks the model through `meter`."""
        self._planner = planner
        self._meter = meter
        self._plans: dict[tuple[str, ContextPart], PlanResponse] = {}
        self.costs: dict[tuple[str, ContextPart], Cost] = {}
        """By the ticket's external id and the part."""

    def plan(self, request: PlanRequest, part: ContextPart) -> PlanResponse:
        """The candidates for the ticket; the request's context is that part already.

        Raises:
            ModelLostError: The model failed several times in a row.
        """
        key = (request.ticket.external_id, part)
        if key not in self._plans:
            self._plans[key] = self._ask_planner(key, request)
        return self._plans[key]

    def _ask_planner(self, key: tuple[str, ContextPart], request: PlanRequest) -> PlanResponse:
        spent, samples = self._meter.spent, _samples()
        plan = self._planner.plan(request)
        self.costs[key] = Cost(self._meter.spent.since(spent), _samples() - samples)
        if self._meter.failures_in_row >= MOST_FAILURES:
            raise ModelLostError(
                f"{self._meter.name!r} failed {MOST_FAILURES} times in a row; once it answers, run "
                "the same command again: with --record it goes on where it was"
            )
        return plan


def _samples() -> Counter[str]:
    """Samples of this process so far, by outcome."""
    return Counter(
        {
            one.labels["outcome"]: int(one.value)
            for metric in SAMPLES.collect()
            for one in metric.samples
            if one.name.endswith("_total")
        }
    )
