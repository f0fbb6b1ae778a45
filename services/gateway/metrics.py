"""What the gateway counts."""

from prometheus_client import Counter, Histogram

TICKETS = Counter(
    "flowxpert_gateway_tickets_total",
    "Tickets in accepted deliveries, by source, and by whether they were new or known.",
    ["source", "novelty"],
)

REJECTED = Counter(
    "flowxpert_gateway_rejected_items_total",
    "Items of accepted deliveries that could not become tickets.",
)

WALK_SECONDS = Histogram(
    "flowxpert_gateway_walk_seconds",
    "Time from a ticket's receipt to the end of its walk, by how it ended.",
    ["status"],
    buckets=(0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800),
)

JUDGED_WORKFLOWS = Counter(
    "flowxpert_gateway_judged_workflows_total",
    "Workflows that engineers accepted or rejected as a whole.",
    ["verdict"],
)

JUDGED_STEPS = Counter(
    "flowxpert_gateway_judged_steps_total",
    "Steps of workflows that engineers accepted or rejected.",
    ["verdict"],
)

for _verdict in ("accepted", "rejected"):
    JUDGED_WORKFLOWS.labels(_verdict)
    JUDGED_STEPS.labels(_verdict)
