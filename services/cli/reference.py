"""`flowxpert settings` and `flowxpert metrics`: pages of reference, printed from the code."""

import json
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from services.kit.settings import FILE_SUFFIX, Settings, is_secret

if TYPE_CHECKING:
    from prometheus_client.metrics import MetricWrapperBase

HEAD = """# Metrics

What `/metrics` of the services tells. Written by `flowxpert metrics`. A histogram `…_seconds` has
the series `…_seconds_bucket`, `…_seconds_sum` and `…_seconds_count`. Label values are finite sets:
states, names of stages and stores, configured sources and models.
"""


class SettingsForm(StrEnum):
    """Format in which settings are printed."""

    ENV = "env"
    MARKDOWN = "markdown"


def settings(
    form: Annotated[SettingsForm, typer.Option("--format")] = SettingsForm.MARKDOWN,
) -> None:
    """Print every setting with its default, as a page or as a file of variables."""
    from services.deployment.rooms import SETTINGS  # noqa: PLC0415

    write = as_env if form is SettingsForm.ENV else as_markdown
    sys.stdout.write(write(SETTINGS))


def as_env(classes: Iterable[type[Settings]]) -> str:
    """Print every variable, commented out, with its description and default."""
    lines = [
        "# Every setting and its default. Uncomment what you change.",
        f"# A secret may stand in a file instead: FLOWXPERT_API_KEY{FILE_SUFFIX} names it.",
        "",
    ]
    for cls in classes:
        lines += [f"# {_summary(cls)}", ""]
        for name, field in cls.variables():
            lines += [f"# {field.description}", f"#{name}={_default(field)}", ""]
    return "\n".join(lines)


def as_markdown(classes: Iterable[type[Settings]]) -> str:
    """Print one table per settings class."""
    lines = [
        "# Settings",
        "",
        "Set as environment variables or in a file `.env` in the working folder. Printed by",
        "`flowxpert settings --format markdown`. A secret (🔒) may stand in a file instead:",
        f"`FLOWXPERT_API_KEY{FILE_SUFFIX}` names the file that holds `FLOWXPERT_API_KEY`, as",
        "Docker and Kubernetes give secrets.",
    ]
    for cls in classes:
        lines += ["", f"## {cls.__name__}", "", _summary(cls), ""]
        lines += ["| variable | default | |", "|---|---|---|"]
        for name, field in cls.variables():
            shown = f"`{_default(field)}`" if _default(field) else "unset"
            mark = " 🔒" if is_secret(field.annotation) else ""
            lines.append(f"| `{name}`{mark} | {shown} | {field.description} |")
    return "\n".join(lines) + "\n"


def _summary(cls: type[Settings]) -> str:
    return (cls.__doc__ or cls.__name__).strip().partition("\n")[0]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case SecretStr() | Path() | str() | int() | float():
            return str(value)
        case _:
            return json.dumps(value, default=str)


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
