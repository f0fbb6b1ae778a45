"""`flowxpert metrics`: every metric of the platform, as a page."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from prometheus_client.metrics import MetricWrapperBase

ROOMS = {
    "Every service": "services.kit.observability.metrics",
    "Gateway": "services.gateway.metrics",
    "Ingestion": "services.ingestion.metrics",
    "Planner": "services.planner.metrics",
    "Scorer": "services.scorer.metrics",
    "Language model": "services.llm.guard",
}

HEAD = """# Metrics

What `/metrics` of the services tells. Written by `flowxpert metrics`. A histogram `…_seconds` has
the series `…_seconds_bucket`, `…_seconds_sum` and `…_seconds_count`. Label values are finite sets:
states, names of stages and stores, configured sources and models.
"""


def metrics() -> None:
    """Every metric with its kind, its labels and what it tells."""
    typer.echo(HEAD, nl=False)
    for title, module in ROOMS.items():
        typer.echo(f"\n## {title}\n\n| metric | kind | labels | tells |\n|---|---|---|---|")
        for metric in metrics_of(module):
            typer.echo(row(metric))


def metrics_of(module: str) -> Iterator["MetricWrapperBase"]:
    """Those that a module makes, in its order."""
    from prometheus_client.metrics import MetricWrapperBase  # noqa: PLC0415

    found = vars(import_module(module)).values()
    return (each for each in found if isinstance(each, MetricWrapperBase))


def row(metric: "MetricWrapperBase") -> str:
    """A line of the table."""
    (family,) = metric.describe()
    name = f"{family.name}_total" if family.type == "counter" else family.name
    labels = ", ".join(f"`{label}`" for label in metric._labelnames)
    return f"| `{name}` | {family.type} | {labels} | {family.documentation} |"
