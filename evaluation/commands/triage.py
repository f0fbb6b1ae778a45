"""Whether tickets are sent to the right team."""

from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, Out
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress
from services.kit.files import require_file

app = typer.Typer()

_WAYS = 5


@app.command()
def triage(
    *,
    train: Annotated[
        Path, typer.Option(help="JSON Lines of past tickets, oldest first.", callback=require_file)
    ],
    test: Annotated[
        Path, typer.Option(help="JSON Lines of the tickets to be sent.", callback=require_file)
    ],
    label: Annotated[str, typer.Option(help="The field that names the team.")] = "team",
    mask: Annotated[
        bool, typer.Option("--mask", help="Take the names of the teams out of the texts.")
    ] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """The team of each row of `--test`, learned from `--train`, each with `text` and its team.

    Beside it, in the same run: one round only, no graph, no noise reduction, and TF-IDF with
    logistic regression.
    """
    from evaluation.benches.triage import masked, read_cases, run  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415
    from services.room.open_stores import open_embedder  # noqa: PLC0415
    from services.tickets.settings import GatewaySettings  # noqa: PLC0415
    from services.tickets.triage.choice import RoutingLimits  # noqa: PLC0415

    settings = GatewaySettings()
    limits = RoutingLimits(settings.triage_sure_from, settings.triage_abstain_below)
    past, test_cases = read_cases(train, label), read_cases(test, label)
    if mask:
        names = {case.team for case in (*past, *test_cases)}
        past, test_cases = masked(past, names), masked(test_cases, names)
    config: dict[str, object] = {"train_file": train.name, "test_file": test.name, "label": label}
    embedder = open_embedder(PlatformSettings())
    embedder.limit_threads(1)
    with progress("triage", _WAYS) as advance:
        report = run(
            past, test_cases, embedder, limits, config=config | {"masked": mask}, advance=advance
        )
    finish(report, out, as_json=as_json)
