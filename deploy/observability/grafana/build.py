"""Writes the dashboards: `python deploy/observability/grafana/build.py`."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent / "dashboards"
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDE, HIGH = 8, 8
COLUMNS = 24 // WIDE


@dataclass(frozen=True)
class Panel:
    """One question to Prometheus, and how its answer is shown; legends by what each line is."""

    title: str
    description: str
    unit: str
    queries: Mapping[str, str]
    kind: Literal["timeseries", "stat", "bargauge", "heatmap"] = "timeseries"
    warns_from: float | None = None

    def shown(self, number: int) -> dict[str, Any]:
        """As Grafana reads it, at its place in the grid."""
        row, column = divmod(number, COLUMNS)
        marks: list[dict[str, Any]] = [{"color": "green", "value": None}]
        if self.warns_from is not None:
            marks.append({"color": "red", "value": self.warns_from})
        return {
            "id": number + 1,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": SOURCE,
            "gridPos": {"x": column * WIDE, "y": row * HIGH, "w": WIDE, "h": HIGH},
            "fieldConfig": {
                "defaults": {
                    "unit": self.unit,
                    "min": 0,
                    "thresholds": {"mode": "absolute", "steps": marks},
                },
                "overrides": [],
            },
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}}
            if self.kind == "timeseries"
            else {},
            "targets": [
                {
                    "refId": chr(ord("A") + place),
                    "datasource": SOURCE,
                    "expr": query,
                    "legendFormat": legend,
                    "format": "heatmap" if self.kind == "heatmap" else "time_series",
                }
                for place, (legend, query) in enumerate(self.queries.items())
            ],
        }


def dashboard(uid: str, title: str, panels: Sequence[Panel]) -> dict[str, Any]:
    """A dashboard whose data source is a variable."""
    return {
        "uid": uid,
        "title": title,
        "tags": ["flowxpert"],
        "timezone": "browser",
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {
                    "name": "source",
                    "label": "Data source",
                    "type": "datasource",
                    "query": "prometheus",
                    "current": {"text": "Prometheus", "value": "prometheus"},
                }
            ]
        },
        "annotations": {"list": []},
        "links": [
            {"title": "FlowXpert", "type": "dashboards", "tags": ["flowxpert"], "asDropdown": True}
        ],
        "panels": [panel.shown(number) for number, panel in enumerate(panels)],
    }


def rate(metric: str, *by: str, within: str = "5m") -> str:
    """Events a second, summed by these labels."""
    return (
        f"sum by ({', '.join(by)}) (rate({metric}[{within}]))"
        if by
        else f"sum(rate({metric}[{within}]))"
    )


def quantile(share: float, metric: str, *by: str, within: str = "5m") -> str:
    """The share of observations below, of a histogram."""
    labels = ", ".join([*by, "le"])
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket[{within}])))"


def share(part: str, whole: str) -> str:
    """How much of the whole, 0 to 1, over an hour."""
    return f"sum(increase({part}[1h])) / sum(increase({whole}[1h]))"


STANDING = "max by (source, state) (flowxpert_gateway_tickets_in_state)"
"""Each replica tells the same."""

OVERVIEW = [
    Panel(
        "Services up",
        "Processes that Prometheus can scrape, by service. Runbook: FlowXpertServiceDown.",
        "short",
        {"{{app}} {{instance}}": 'up{job="flowxpert"}'},
        "stat",
    ),
    Panel(
        "Tickets in",
        "New tickets a second, by the system that they come from.",
        "reqps",
        {"{{source}}": rate('flowxpert_gateway_tickets_total{novelty="new"}', "source")},
    ),
    Panel(
        "Answers",
        "Walks that end a second, by answer. Runbook: FlowXpertNothingAnswered.",
        "reqps",
        {"{{answer}}": rate("flowxpert_gateway_answers_total", "answer")},
    ),
    Panel(
        "Tickets by state",
        "Tickets that are kept, by where they stand.",
        "short",
        {"{{state}}": f"sum by (state) ({STANDING})"},
        "bargauge",
    ),
    Panel(
        "Tickets by source",
        "Tickets that are kept, by the system that they came from.",
        "short",
        {"{{source}}": f"sum by (source) ({STANDING})"},
        "bargauge",
    ),
    Panel(
        "From receipt to workflow",
        "Median and 95th percentile, the wait included. Runbook: FlowXpertWalksAreSlow.",
        "s",
        {
            "median": quantile(0.5, "flowxpert_gateway_walk_seconds", within="10m"),
            "95 %": "flowxpert:walk_seconds:p95_10m",
        },
        warns_from=30,
    ),
    Panel(
        "Stages, 95th percentile",
        "How long the stages of walks and of ingestion take.",
        "s",
        {"{{service}} {{stage}}": "flowxpert:stage_seconds:p95_5m"},
    ),
    Panel(
        "Degraded walks",
        "Walks of an hour that went on without something. Runbook: FlowXpertWalksDegraded.",
        "short",
        {"{{missing}}": "sum by (missing) (increase(flowxpert_gateway_degraded_walks_total[1h]))"},
        warns_from=1,
    ),
    Panel(
        "Requests",
        "HTTP requests a second, by service and status.",
        "reqps",
        {
            "{{service}} {{status}}": rate(
                "flowxpert_http_request_seconds_count", "service", "status"
            )
        },
    ),
    Panel(
        "Requests, 95th percentile",
        "How long services take to answer; event streams last as long as they are watched.",
        "s",
        {"{{service}}": quantile(0.95, "flowxpert_http_request_seconds", "service")},
    ),
    Panel(
        "Errors of our own",
        "Share of answers with a status of 500 and above. Runbook: FlowXpertHttpErrors.",
        "percentunit",
        {"{{service}}": "flowxpert:http_errors:ratio_rate5m"},
        warns_from=0.02,
    ),
    Panel(
        "Documents taken in",
        "Documents of an hour, by what became of them. Runbook: FlowXpertIngestionFails.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_ingestion_documents_total[1h]))"},
    ),
]

QUALITY = [
    Panel(
        "Accepted workflows",
        "Share of verdicts that accept, of a day and a week. Runbook: FlowXpertAcceptanceFalls.",
        "percentunit",
        {"a day": "flowxpert:acceptance:ratio1d", "a week": "flowxpert:acceptance:ratio7d"},
    ),
    Panel(
        "Verdicts of a day",
        "Workflows that engineers accepted or rejected.",
        "short",
        {
            "{{verdict}}": "sum by (verdict) "
            "(increase(flowxpert_gateway_judged_workflows_total[1d]))"
        },
    ),
    Panel(
        "Judged steps of a day",
        "Steps of workflows that engineers accepted or rejected.",
        "short",
        {"{{verdict}}": "sum by (verdict) (increase(flowxpert_gateway_judged_steps_total[1d]))"},
    ),
    Panel(
        "Answers of an hour",
        "Walks that ended, by what the ticket got.",
        "short",
        {"{{answer}}": "flowxpert:answers:increase1h"},
    ),
    Panel(
        "Refusals",
        "Share of an hour's tickets that nothing known fits. Runbook: FlowXpertManyRefusals.",
        "percentunit",
        {"refused": "flowxpert:refusals:ratio1h"},
        warns_from=0.5,
    ),
    Panel(
        "Unsupported steps",
        "Share of the steps of chosen workflows that no line supports.",
        "percentunit",
        {"unsupported": "flowxpert:unsupported_steps:ratio1h"},
        warns_from=0.3,
    ),
    Panel(
        "Scores",
        "Means of the scores of chosen workflows, 1 to 5, by dimension.",
        "short",
        {
            "{{dimension}}": "sum by (dimension) (increase(flowxpert_gateway_score_points_sum[1h]))"
            " / sum by (dimension) (increase(flowxpert_gateway_score_points_count[1h]))"
        },
    ),
    Panel(
        "Overall score, distribution",
        "How many chosen workflows of an hour have which overall score.",
        "short",
        {
            "{{le}}": "sum by (le) (increase("
            'flowxpert_gateway_score_points_bucket{dimension="overall"}[1h]))'
        },
        "heatmap",
    ),
    Panel(
        "Chance of acceptance, distribution",
        "How likely the chosen workflows of an hour are to be accepted, by their own estimate.",
        "short",
        {"{{le}}": "sum by (le) (increase(flowxpert_gateway_chance_ratio_bucket[1h]))"},
        "heatmap",
    ),
    Panel(
        "Candidates by writer",
        "Candidates of an hour, by who wrote them and whether they were chosen.",
        "short",
        {
            "{{planner}}, chosen: {{chosen}}": "sum by (planner, chosen) "
            "(increase(flowxpert_gateway_candidates_total[1h]))"
        },
    ),
    Panel(
        "Questions to engineers",
        "Questions of an hour: asked, answered, not known, or no more wanted.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_gateway_questions_total[1h]))"},
    ),
    Panel(
        "Triage",
        "Decisions of an hour whose ticket it is, by who made them, and those that abstained.",
        "short",
        {
            "{{by}}, {{outcome}}": "sum by (by, outcome) "
            "(increase(flowxpert_gateway_triage_decisions_total[1h]))"
        },
    ),
    Panel(
        "Abstentions of triage",
        "Share of an hour's decisions of triage that named no team.",
        "percentunit",
        {
            "abstained": share(
                'flowxpert_gateway_triage_decisions_total{by!="person", outcome="abstained"}',
                'flowxpert_gateway_triage_decisions_total{by!="person"}',
            )
        },
    ),
    Panel(
        "Approvals of pages that changed",
        "Approved procedures carried over or lost in a day. Runbook: FlowXpertApprovalsLost.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_ingestion_approvals_total[1d]))"},
    ),
]

MODEL = [
    Panel(
        "Circuit",
        "1 while a model that failed repeatedly is left alone. Runbook: FlowXpertModelBreakerOpen.",
        "short",
        {"{{model}}": "max by (model) (flowxpert_llm_breaker_open_state)"},
        "stat",
        warns_from=1,
    ),
    Panel(
        "Calls",
        "Calls a second, by model and outcome.",
        "reqps",
        {"{{model}} {{outcome}}": rate("flowxpert_llm_calls_total", "model", "outcome")},
    ),
    Panel(
        "Time of a call",
        "Median and 95th percentile of a call, retries excluded.",
        "s",
        {
            "{{model}} median": quantile(0.5, "flowxpert_llm_call_seconds", "model"),
            "{{model}} 95 %": quantile(0.95, "flowxpert_llm_call_seconds", "model"),
        },
    ),
    Panel(
        "Tokens",
        "Tokens a second, in and out, by model.",
        "short",
        {"{{model}} {{direction}}": rate("flowxpert_llm_tokens_total", "model", "direction")},
    ),
    Panel(
        "Cost of a day",
        "What the tokens of a day cost, by the prices that are set, in their currency.",
        "short",
        {"{{model}}": "sum by (model) (increase(flowxpert_llm_cost_total[1d]))"},
    ),
    Panel(
        "Cost of a ticket",
        "Cost of an hour, divided by its walks.",
        "short",
        {
            "a ticket": "sum(increase(flowxpert_llm_cost_total[1h]))"
            " / sum(increase(flowxpert_gateway_answers_total[1h]))"
        },
    ),
    Panel(
        "Samples",
        "What became of the samples of an hour that a model wrote.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_planner_samples_total[1h]))"},
    ),
    Panel(
        "Tickets without the model",
        "Tickets of an hour that were planned without all of the model's candidates, by reason.",
        "short",
        {"{{reason}}": "sum by (reason) (increase(flowxpert_planner_model_failures_total[1h]))"},
    ),
    Panel(
        "Questions to the judge",
        "Questions of an hour about lines of a page, by what came of them.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_scorer_questions_total[1h]))"},
    ),
    Panel(
        "Citations of the model",
        "Citations of an hour: kept, moved to lines that say the step, or removed.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_planner_citations_total[1h]))"},
    ),
]

STORES = [
    Panel(
        "Tasks not finished",
        "Tasks that wait or run.",
        "short",
        {"waiting": 'max(flowxpert_queue_outbox_tasks{state="waiting"})'},
    ),
    Panel(
        "Age of the queue",
        "How long the oldest task of each name has waited. Runbook: FlowXpertQueueIsOld.",
        "s",
        {"{{task}}": "max by (task) (flowxpert_queue_oldest_waiting_seconds)"},
        warns_from=120,
    ),
    Panel(
        "Dead letters",
        "Tasks that were given up, each kept with its reason. Runbook: FlowXpertDeadLetters.",
        "short",
        {"parked": 'max(flowxpert_queue_outbox_tasks{state="parked"})'},
        "stat",
        warns_from=1,
    ),
    Panel(
        "Tasks run",
        "Tasks a second, by name and outcome.",
        "reqps",
        {"{{task}} {{outcome}}": rate("flowxpert_queue_tasks_total", "task", "outcome")},
    ),
    Panel(
        "Stores, 95th percentile",
        "How long operations take, by store. Runbook: FlowXpertStoreIsSlow.",
        "s",
        {"{{store}}": "flowxpert:store_seconds:p95_5m"},
        warns_from=1,
    ),
    Panel(
        "Operations of the stores",
        "Operations a second, by store.",
        "ops",
        {"{{store}} {{operation}}": rate("flowxpert_store_seconds_count", "store", "operation")},
    ),
    Panel(
        "Failures of the stores",
        "Operations of five minutes that a store did not answer. Runbook: FlowXpertStoreFails.",
        "short",
        {"{{store}}": "sum by (store) (increase(flowxpert_store_failures_total[5m]))"},
        warns_from=1,
    ),
    Panel(
        "Jobs of ingestion",
        "Jobs of a day, by how they ended. Runbook: FlowXpertIngestionFails.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_ingestion_jobs_total[1d]))"},
    ),
    Panel(
        "Outdated documents",
        "Documents that were read by older rules; `flowxpert ingest` reads them again.",
        "short",
        {"outdated": "max(flowxpert_ingestion_outdated_documents)"},
        "stat",
    ),
    Panel(
        "Messages to other systems",
        "Messages of an hour, by target and outcome. Runbook: FlowXpertWriteBackFails.",
        "short",
        {
            "{{target}} {{outcome}}": "sum by (target, outcome) "
            "(increase(flowxpert_gateway_write_backs_total[1h]))"
        },
    ),
]

EXECUTION = [
    Panel(
        "Runs",
        "Runs of a day, by how they ended.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_executor_runs_total[1d]))"},
    ),
    Panel(
        "Changes whose effect is not known",
        "Changes of a day that may have been made or not: a person looks at each.",
        "short",
        {
            "unknown": "sum(increase("
            'flowxpert_executor_calls_total{effect="change",outcome="unknown"}[1d]))'
        },
        "stat",
        warns_from=1,
    ),
    Panel(
        "Calls of tools",
        "Calls a second, by effect and outcome.",
        "reqps",
        {
            "{{effect}} {{outcome}}": rate("flowxpert_executor_calls_total", "effect", "outcome"),
        },
    ),
    Panel(
        "Tools, 95th percentile",
        "How long calls take, log-in included.",
        "s",
        {"{{effect}}": quantile(0.95, "flowxpert_executor_call_seconds", "effect")},
    ),
    Panel(
        "Who answers questions",
        "Questions of runs of a day, by who answered.",
        "short",
        {"{{by}}": "sum by (by) (increase(flowxpert_executor_decisions_total[1d]))"},
    ),
    Panel(
        "Approvals",
        "Changes of a day that somebody was asked about, by how that ended.",
        "short",
        {"{{outcome}}": "sum by (outcome) (increase(flowxpert_executor_approvals_total[1d]))"},
    ),
]

DASHBOARDS = {
    "overview": dashboard("flowxpert-overview", "FlowXpert overview", OVERVIEW),
    "quality": dashboard("flowxpert-quality", "FlowXpert quality", QUALITY),
    "model": dashboard("flowxpert-model", "FlowXpert model and cost", MODEL),
    "execution": dashboard("flowxpert-execution", "FlowXpert execution", EXECUTION),
    "stores": dashboard("flowxpert-stores", "FlowXpert queue and stores", STORES),
}


def written(name: str) -> str:
    """The file of a dashboard."""
    return json.dumps(DASHBOARDS[name], indent=2) + "\n"


def main() -> int:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name in DASHBOARDS:
        (FOLDER / f"{name}.json").write_text(written(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
