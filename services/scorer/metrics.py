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

PREPARED = Counter(
    "flowxpert_scorer_prepared_total",
    "Workflows whose scores by their pages were asked for, by where these came from: memory, "
    "stored (made ahead, or for an earlier ticket), or made for this ticket.",
    ["origin"],
)

start_at_zero(PREPARED, ("memory", "stored", "made"))
