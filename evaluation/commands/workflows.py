"""Workflows against references: one planner, or several beside each other."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evaluation.commands.options import AsJson, DataDir, Out, PairsFile, RecordFile, Sample, Seed
from evaluation.commands.outcome import finish, write_rows
from evaluation.commands.pair_choice import chosen_pairs, stratified_pairs
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress
from services.kit.files import require_new_file

if TYPE_CHECKING:
    from services.contracts.planner import PlanRequest
    from services.deployment.embedded import Embedded

app = typer.Typer()

Forms = Literal["first", "all"]
Rows = Annotated[
    Path | None, typer.Option(help="Also write each answer's figures.", callback=require_new_file)
]


@app.command()
def workflows(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    planner: Annotated[str, typer.Option(help="Whose workflows are measured.")] = "extractive",
    oracle: Annotated[
        bool, typer.Option(help="Give the planner the pair's own pages; not the headline.")
    ] = False,
    sample: Sample = 0,
    seed: Seed = 0,
    record: RecordFile = None,
    rows: Rows = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Every query through the whole walk, the workflow against the reference."""
    from evaluation.benches.planning.comparison_setup import model_config, open_comparison  # noqa: PLC0415
    from evaluation.benches.planning.planners import method_named  # noqa: PLC0415
    from evaluation.report.workflow_report import report  # noqa: PLC0415

    started = time.perf_counter()
    method = method_named(planner)
    chosen = chosen_pairs(pairs, sample, seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    config |= {"planner": planner, "context": "gold pages (oracle)" if oracle else "retrieved"}
    with open_platform(data_dir) as platform:
        config |= model_config(platform, seed) if method.asks_model else {}
        bench = open_comparison(platform, seed=seed, record=record, oracle=oracle)
        with progress("workflows", sum(len(pair.forms) for pair in chosen)) as advance:
            measured = bench.entry(planner, chosen, advance).rows
    write_rows(rows, (row.record() for row in measured))
    seconds = round(time.perf_counter() - started, 1)
    finish(report(measured, config, seconds), out, as_json=as_json)


@app.command()
def planners(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    planner: Annotated[
        str, typer.Option(help="Planners to compare, with commas; all when left out.")
    ] = "",
    sample: Annotated[
        int, typer.Option(help="Pairs in all, equal shares of every set and tier; 0 for all.")
    ] = 48,
    forms: Annotated[Forms, typer.Option(help="Which forms of each query are asked.")] = "first",
    seed: Seed = 0,
    record: RecordFile = None,
    at_once: Annotated[
        int, typer.Option(min=1, help="Tickets the model plans at a time; needs --record.")
    ] = 1,
    rows: Rows = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Planners and ablations on the same pairs, with intervals; they share the model's calls.

    With --record it may be killed at any time: the same command goes on where it was.
    """
    if at_once > 1 and record is None:
        raise typer.BadParameter("--at-once needs --record")
    from evaluation.benches.planning.comparison_setup import model_config, open_comparison  # noqa: PLC0415
    from evaluation.benches.planning.planners import PLANNERS, method_named  # noqa: PLC0415
    from evaluation.report.comparison_report import report  # noqa: PLC0415

    started = time.perf_counter()
    names = [name.strip() for name in planner.split(",") if name.strip()] or list(PLANNERS)
    asking = any(method_named(name).asks_model for name in names)
    chosen = stratified_pairs(pairs, sample, seed, forms)
    config: dict[str, object] = {"pairs": pairs.name, "sample": len(chosen), "seed": seed}
    config |= {"forms": forms}
    with open_platform(data_dir) as platform:
        config["documents"] = len(platform.documents.hashes())
        config |= model_config(platform, seed) if asking else {}
        comparison = open_comparison(platform, seed=seed, record=record)
        if at_once > 1 and record:
            _ask_ahead(platform, comparison.requests(names, chosen), seed, record, at_once)
        total = len(names) * sum(len(pair.forms) for pair in chosen)
        with progress("planners", total) as advance:
            entries = [comparison.entry(name, chosen, advance) for name in names]
    unanswered = sum(entry.spent.failures for entry in entries)
    if unanswered:
        typer.echo(f"{unanswered} calls were not answered; the same command asks again", err=True)
    write_rows(rows, ({"planner": e.name, **row.record()} for e in entries for row in e.rows))
    seconds = round(time.perf_counter() - started, 1)
    finish(report(entries, config, seconds, seed), out, as_json=as_json)


def _ask_ahead(
    platform: "Embedded", requests: "Sequence[PlanRequest]", seed: int, record: Path, at_once: int
) -> None:
    from evaluation.benches.planning.comparison_setup import planner_settings, recording_planner  # noqa: PLC0415
    from evaluation.benches.planning.parallel_plans import ask_ahead  # noqa: PLC0415

    if platform.model:
        settings = planner_settings(seed)
        planner = recording_planner(platform.model, record, at_once, platform.embedder, settings)
        with progress("the model's plans", len(requests)) as advance:
            ask_ahead(planner, requests, at_once, advance)
