"""Metrics of the planner; `services.llm.guard` counts the model's tokens and calls."""

from prometheus_client import Counter, Histogram

from services.kit.observability.metrics import start_at_zero

SAMPLES = Counter(
    "flowxpert_planner_samples_total",
    "Samples of the model, by outcome: accepted, corrected (a revised answer was accepted), empty "
    "(it finds nothing that treats the ticket), unreadable, unsound or leaked (it tells the "
    "platform's own messages to the model).",
    ["outcome"],
)

MODEL_FAILURES = Counter(
    "flowxpert_planner_model_failures_total",
    "Tickets planned without the model's candidates or without all of them, by what happened.",
    ["reason"],
)

CITATIONS = Counter(
    "flowxpert_planner_citations_total",
    "Citations the model gave, by whether the lines say the step: kept; moved to lines that do; "
    "or removed.",
    ["outcome"],
)

SUSPICIOUS = Counter(
    "flowxpert_planner_suspicious_texts_total",
    "Sentences of tickets that speak to a language model and were left out.",
)

TICKET_TOKENS = Histogram(
    "flowxpert_planner_ticket_tokens",
    "Tokens, in and out, that the plans of one ticket took.",
    buckets=(500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000),
)

TICKET_COST = Histogram(
    "flowxpert_planner_ticket_cost",
    "What the plans of one ticket cost, by the prices that are set.",
    buckets=(0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5),
)

COMPOSING_ANSWERS = Counter(
    "flowxpert_planner_composing_answers_total",
    "Answers of the model while something is composed or edited in words: used at once, corrected "
    "(used after it was told what was wrong) or unusable.",
    ["outcome"],
)

start_at_zero(SAMPLES, ("accepted", "corrected", "empty", "unreadable", "unsound", "leaked"))
start_at_zero(MODEL_FAILURES, ("unavailable", "refused", "budget"))
start_at_zero(CITATIONS, ("kept", "moved", "removed"))
start_at_zero(COMPOSING_ANSWERS, ("used", "corrected", "unusable"))
