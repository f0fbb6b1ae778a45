"""`flowxpert metrics`: print every metric of the platform, as a page."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from prometheus_client.metrics import MetricWrapperBase

HEAD = """# Metrics

What `/metrics` of the services tells. Written by `flowxpert metrics`. A histogram `…_seconds` has
the series `…_seconds_bucket`, `…_seconds_sum` and `…_seconds_count`. Label values are finite sets:
states, names of stages and stores, configured sources and models.
"""


def metrics() -> None:
    """Print every metric with its kind, its labels and its meaning."""
    typer.echo(HEAD, nl=False)
    for title, module in sections():
        typer.echo(f"\n## {title}\n\n| metric | kind | labels | tells |\n|---|---|---|---|")
        for metric in metrics_of(module):
            typer.echo(row(metric))


def sections() -> "Iterator[tuple[str, str]]":
    """Yield each title with the module whose metrics stand under it."""
    from services.deployment.rooms import ROOMS  # noqa: PLC0415

    yield "Every service", "services.kit.observability.metrics"
    for room in ROOMS:
        for package in (room.name, *room.packages):
            if find_spec(f"services.{package}.metrics"):
                yield room.name.capitalize(), f"services.{package}.metrics"
    yield "Language model", "services.llm.guard"


def metrics_of(module: str) -> Iterator["MetricWrapperBase"]:
    """Return the metrics that a module makes, in its order."""
    from prometheus_client.metrics import MetricWrapperBase  # noqa: PLC0415

    values = vars(import_module(module)).values()
    return (each for each in values if isinstance(each, MetricWrapperBase))


def row(metric: "MetricWrapperBase") -> str:
    """Return a line of the table."""
    (family,) = metric.describe()
    name = f"{family.name}_total" if family.type == "counter" else family.name
    labels = ", ".join(f"`{label}`" for label in metric._labelnames)
    return f"| `{name}` | {family.type} | {labels} | {family.documentation} |"
