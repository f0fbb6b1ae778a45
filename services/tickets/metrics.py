"""Prometheus metrics of the gateway."""

from prometheus_client import Counter, Gauge, Histogram

from services.contracts.scorer import DIMENSIONS
from services.contracts.ticket import Fit, TicketStatus
from services.kit.observability.metrics import start_at_zero

SCORES = ("overall", *DIMENSIONS)
ANSWER_KINDS = (Fit.SURE.value, Fit.UNSURE.value, "refused", "failed")
PARTS = ("graph", "vectors", "scorer", "triage")
"""Services that a walk may go on without."""
QUESTION_OUTCOMES = ("asked", "answered", "not_known", "not_settled", "went_on")
PLANNERS = ("extractive", "llm")
TRIAGED_BY = ("ranker", "model", "person")

TICKETS = Counter(
    "flowxpert_gateway_tickets_total",
    "Tickets in accepted deliveries, by source, and by whether they were new or known.",
    ["source", "novelty"],
)

TICKETS_IN_STATE = Gauge(
    "flowxpert_gateway_tickets_in_state",
    "Tickets that are kept, by source and by where they stand. Take the maximum over replicas.",
    ["source", "state"],
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

PAGE_CHOICES = Counter(
    "flowxpert_gateway_page_choices_total",
    "A model's choices of the page for a ticket: the same as retrieval's first, another one, none "
    "of those shown, overruled by the alert's own name, not_heard (it names one place throughout), "
    "or failed.",
    ["outcome"],
)

JUDGEMENTS = ("accepted", "rejected")

ANSWERS = Counter(
    "flowxpert_gateway_answers_total",
    "Walks that ended, by what the ticket got: a workflow that is sure or unsure, a refusal, or "
    "nothing, since the walk failed.",
    ["answer"],
)

DEGRADED = Counter(
    "flowxpert_gateway_degraded_walks_total",
    "Walks that went on without something that did not answer, by what it was.",
    ["missing"],
)

CANDIDATES = Counter(
    "flowxpert_gateway_candidates_total",
    "Candidates of walks that ended, by who wrote them, and whether it was chosen (yes or no).",
    ["planner", "chosen"],
)

SCORE = Histogram(
    "flowxpert_gateway_score_points",
    "Scores of chosen workflows, 1 to 5, by dimension.",
    ["dimension"],
    buckets=(1.5, 2, 2.5, 3, 3.5, 4, 4.25, 4.5, 4.75, 5),
)

CHANCE = Histogram(
    "flowxpert_gateway_chance_ratio",
    "The chance that an expert accepts the chosen workflow, 0 to 1.",
    buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
)

STEPS = Counter(
    "flowxpert_gateway_steps_total",
    "Steps of chosen workflows, by whether lines of a document support them (yes or no).",
    ["supported"],
)

QUESTIONS = Counter(
    "flowxpert_gateway_questions_total",
    "Questions to engineers: asked, answered, not_known, or went_on (no more were wanted).",
    ["outcome"],
)

TRIAGE = Counter(
    "flowxpert_gateway_triage_decisions_total",
    "Decisions whose ticket it is, by who made them, and by outcome: assigned, or abstained where "
    "no team was likely enough.",
    ["by", "outcome"],
)

WRITE_BACKS = Counter(
    "flowxpert_gateway_write_backs_total",
    "Messages to other systems about tickets, by target and outcome: told, or not_told.",
    ["target", "outcome"],
)

start_at_zero(JUDGED_WORKFLOWS, JUDGEMENTS)
start_at_zero(JUDGED_STEPS, JUDGEMENTS)
start_at_zero(WALK_SECONDS, (status.value for status in TicketStatus if status.is_final))
start_at_zero(ANSWERS, ANSWER_KINDS)
start_at_zero(DEGRADED, PARTS)
start_at_zero(CANDIDATES, PLANNERS, ("yes", "no"))
start_at_zero(SCORE, SCORES)
start_at_zero(STEPS, ("yes", "no"))
start_at_zero(QUESTIONS, QUESTION_OUTCOMES)
start_at_zero(TRIAGE, TRIAGED_BY, ("assigned", "abstained"))
