"""What a load takes."""

from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.chaos import EXAMPLES
from evaluation.commands.options import Out
from services.kit.files import read_json, require_file, require_folder, write_text

app = typer.Typer()


@app.command()
def capacity(
    *,
    documents: Annotated[
        Path, typer.Option(help="Folder that the tickets are about.", callback=require_folder)
    ] = EXAMPLES,
    tickets: Annotated[int, typer.Option(min=1, help="Tickets that are measured.")] = 60,
    costs: Annotated[
        Path | None,
        typer.Option(help="Take the costs from there; measure nothing.", callback=require_file),
    ] = None,
    per_month: Annotated[
        list[float] | None, typer.Option(help="Tickets a month; more than one may be given.")
    ] = None,
    peak: Annotated[
        float, typer.Option(min=1, help="How much more comes at the peak than on average.")
    ] = 10.0,
    alerts: Annotated[float, typer.Option(min=1, help="Alerts for each ticket.")] = 10.0,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Also write the table between the marks of this page.", callback=require_file
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Processes, cores, memory and storage for a number of tickets, from what one ticket costs.

    Prints Markdown. Without --costs it measures first, in this process, for a minute or so.
    """
    from evaluation.measures.capacity import Costs, Demand  # noqa: PLC0415
    from evaluation.report.capacity_report import SHOWN, markdown, put  # noqa: PLC0415

    if costs is None:
        from evaluation.benches.load.capacity import measure_costs  # noqa: PLC0415
        from evaluation.commands.platform import settings_of  # noqa: PLC0415

        settings_of(None)
        figures = measure_costs(documents, tickets)
    else:
        figures = read_json(costs, Costs)
    demands = [Demand(each, peak=peak, alerts=alerts) for each in per_month or SHOWN]
    table = markdown(figures, demands)
    typer.echo(table, nl=False)
    if page is not None:
        put(page, table)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, figures.model_dump_json(indent=2) + "\n")
