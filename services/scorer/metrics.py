"""Metrics of the scorer."""

from prometheus_client import Counter

from services.kit.observability.metrics import start_at_zero

OUTCOMES = (
    "decided",
    "open",
    "kept",
    "withdrawn",
    "unavailable",
    "refused",
    "unreadable",
    "over_budget",
    "late",
)

QUESTIONS = Counter(
    "flowxpert_scorer_questions_total",
    "Questions about lines of a page that a language model was to decide, by outcome: decided, "
    "open (it contradicted itself), kept (it was asked before), withdrawn, unavailable, refused, "
    "unreadable, over_budget or late.",
    ["outcome"],
)

start_at_zero(QUESTIONS, OUTCOMES)
