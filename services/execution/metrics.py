"""Metrics of the executor."""

from prometheus_client import Counter, Histogram

from services.kit.observability.metrics import start_at_zero

RUNS = Counter(
    "flowxpert_executor_runs_total",
    "Runs that ended, by outcome: simulated, recovered, done, handed_over or cancelled.",
    ["outcome"],
)
start_at_zero(RUNS, ("simulated", "recovered", "done", "handed_over", "cancelled"))

CALLS = Counter(
    "flowxpert_executor_calls_total",
    "Calls of tools, by effect (read or change) and outcome: answered, not_sent or unknown.",
    ["effect", "outcome"],
)
start_at_zero(CALLS, ("read", "change"), ("answered", "not_sent", "unknown"))

DECISIONS = Counter(
    "flowxpert_executor_decisions_total",
    "Questions that were answered in runs, by who answered: evidence, person, ticket or page.",
    ["by"],
)
start_at_zero(DECISIONS, ("evidence", "person", "ticket", "page"))

APPROVALS = Counter(
    "flowxpert_executor_approvals_total",
    "Approvals of changes that were asked for, by how they ended: approved, denied or expired.",
    ["outcome"],
)
start_at_zero(APPROVALS, ("approved", "denied", "expired"))

CALL_SECONDS = Histogram(
    "flowxpert_executor_call_seconds",
    "How long calls of tools took, connection included.",
    ["effect"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
)
start_at_zero(CALL_SECONDS, ("read", "change"))

SEARCHES = Counter(
    "flowxpert_executor_searches_total",
    "Searches for causes that ended, by outcome: found, not_found, taken_over or cancelled.",
    ["outcome"],
)
start_at_zero(SEARCHES, ("found", "not_found", "taken_over", "cancelled"))

SEARCH_QUESTIONS = Counter(
    "flowxpert_executor_search_questions_total",
    "Questions of searches to the model, by outcome: answered, not_answered, or misread (an answer"
    " that could not be used).",
    ["outcome"],
)
start_at_zero(SEARCH_QUESTIONS, ("answered", "not_answered", "misread"))
