"""Metrics of the scorer."""

from prometheus_client import Counter

PARTS = Counter(
    "flowxpert_scorer_parts_total",
    "Requests that a part with a language model was asked about, by part (judge, likelihood) and "
    "outcome: given, not_offered, unavailable, refused, unreadable, over_budget or late.",
    ["part", "outcome"],
)
