"""The order in which pages are to be checked."""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, DataDir, Out, PairsFile, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress
from services.kit.files import require_file

app = typer.Typer()


@app.command(name="review-order")
def review_order(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    tickets: Annotated[
        Path, typer.Option(help="JSON Lines of tickets, each with its page.", callback=require_file)
    ],
    count: Annotated[int, typer.Option(min=1, help="Tickets to draw.")] = 200,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count the pages to check, in the list's order, until 50, 80 and 95 of 100 tickets have one.

    `--pairs` are alerts whose page is known. The tickets are walked on a copy of the data folder.
    """
    from evaluation.benches.review_order import (  # noqa: PLC0415
        alerts_order,
        choose_pages,
        list_order,
        report,
        tickets_of,
        walk_tickets,
    )
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.pairs import read_pairs  # noqa: PLC0415

    started = time.perf_counter()
    drawn = tickets_of(read_rows(tickets), read_pairs(pairs), count, seed)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "data"
        shutil.copytree(data_dir, copy)
        with (
            open_platform(copy) as platform,
            progress("review order", 2 * len(drawn)) as advance,
        ):
            ids = walk_tickets(platform, drawn, advance)
            shown = list_order(platform)
            orders = {"the list": shown, "by alerts, as before": alerts_order(platform, shown, ids)}
            answers = choose_pages(platform, dict(zip(ids, drawn, strict=True)), advance)
            orders["the list, pages chosen"] = list_order(platform)
    config: dict[str, object] = {"pairs": pairs.name, "tickets": tickets.name, "seed": seed}
    config["answers"] = answers
    finish(
        report(orders, drawn, seed, config, round(time.perf_counter() - started, 1)),
        out,
        as_json=as_json,
    )
