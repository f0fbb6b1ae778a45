"""`flowxpert bench …`. What a benchmark needs is imported when it runs."""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evaluation.pairs import Pair
    from evaluation.report import Report
    from services.embedded import Embedded

app = typer.Typer(no_args_is_help=True)

_WIDTH_IN_FILES = 160
"""Characters a table may take where no terminal says how many there are."""

DataDir = Annotated[Path, typer.Option(help="Folder of an embedded run, already ingested.")]
PairsFile = Annotated[Path, typer.Option("--pairs", help="JSON Lines of queries and references.")]
Out = Annotated[Path | None, typer.Option(help="Also write the figures there, as JSON.")]
Sample = Annotated[int, typer.Option(help="Only this many pairs, drawn by the seed; 0 for all.")]
Seed = Annotated[int, typer.Option(help="Draws samples, random workflows and perturbations.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


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
    rows: Annotated[Path | None, typer.Option(help="Also write each answer's figures.")] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Every query through the whole walk, the workflow against the reference."""
    from evaluation.planners import planner_named  # noqa: PLC0415
    from evaluation.support import SupportCheck  # noqa: PLC0415
    from evaluation.workflow_report import report  # noqa: PLC0415
    from evaluation.workflows import WorkflowBench, gold, retrieved  # noqa: PLC0415

    started = time.perf_counter()
    chosen = _chosen(pairs, sample, seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    config |= {"planner": planner, "context": "gold pages (oracle)" if oracle else "retrieved"}
    with _open(data_dir) as platform:
        bench = WorkflowBench(
            find_context=gold(platform.graph) if oracle else retrieved(platform.retrieval),
            planner=planner_named(planner, platform),
            scorer=platform.scorer,
            documents=platform.documents,
            embedder=platform.embedder,
            support=SupportCheck(platform.documents, platform.scorer.vectors),
            seed=seed,
        )
        with _progress("workflows", sum(len(pair.forms) for pair in chosen)) as advance:
            measured = bench.rows(chosen, advance)
    if rows is not None:
        rows.write_text("\n".join(json.dumps(row.record()) for row in measured) + "\n")
    seconds = round(time.perf_counter() - started, 1)
    _finish(report(measured, config, seconds), out, as_json=as_json)


@app.command()
def retrieval(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    sample: Sample = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """How far up each query's own page stands, beside BM25, the embedder and both by rank."""
    from evaluation.retrieval import run, searches  # noqa: PLC0415

    started = time.perf_counter()
    chosen = _chosen(pairs, sample, seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    with _open(data_dir) as platform:
        compared = searches(platform.retrieval, platform.vectors, platform.embedder)
        forms = sum(len(pair.forms) for pair in chosen if pair.gold_documents)
        with _progress("retrieval", forms) as advance:
            figures = run(chosen, compared, config, lambda: time.perf_counter() - started, advance)
    _finish(figures, out, as_json=as_json)


@app.command()
def calibrate(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    unknown: Annotated[Path, typer.Option(help="JSON Lines of queries that no page treats.")],
    write: Annotated[
        bool, typer.Option("--write", help="Make the result the calibration in use.")
    ] = False,
) -> None:
    """Fit when retrieval says that something known fits; on even ids, reported on the odd."""
    from evaluation.calibration import calibrate as fit  # noqa: PLC0415
    from evaluation.pairs import read_pairs  # noqa: PLC0415

    known, others = read_pairs(pairs), read_pairs(unknown)
    provenance = (
        f"flowxpert bench calibrate on {pairs.name} ({len(known)}) against {unknown.name}"
        f" ({len(others)}); fitted on ids whose sha256 is even"
    )
    with _open(data_dir) as platform, _progress("calibrate", len(known) + len(others)) as advance:
        found = fit(platform.retrieval, known, others, provenance, advance)
    if write:
        found.write()
    typer.echo(found.model_dump_json(indent=2))


@app.command()
def scorer(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    draws: Annotated[int, typer.Option(min=1, help="Times each perturbation is drawn.")] = 3,
    sample: Sample = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Whether the score falls as references are made worse, each kind of perturbation apart."""
    from evaluation.scorer import ScorerBench, is_measured  # noqa: PLC0415
    from evaluation.workflows import gold, retrieved  # noqa: PLC0415

    chosen = [pair for pair in _chosen(pairs, sample, seed) if is_measured(pair)]
    config = {"pairs": pairs.name, "sample": sample, "seed": seed, "draws": draws}
    with _open(data_dir) as platform:
        bench = ScorerBench(
            find_context=retrieved(platform.retrieval),
            gold_context=gold(platform.graph),
            scorer=platform.scorer,
            embedder=platform.embedder,
            draws=draws,
            seed=seed,
        )
        with _progress("scorer", len(chosen)) as advance:
            figures = bench.run(chosen, config, advance)
    _finish(figures, out, as_json=as_json)


@app.command()
def speed(
    *,
    data_dir: DataDir,
    seconds: Annotated[float, typer.Option(help="How long the load lasts.")] = 60,
    rate: Annotated[float, typer.Option(help="Tickets per second.")] = 50,
    pairs: Annotated[
        Path | None, typer.Option(help="Take the tickets from these queries, not from titles.")
    ] = None,
    out: Out = None,
) -> None:
    """Start, answers, retrieval and walks of the embedded run, on a copy of the data folder."""
    from evaluation.speed import Load, measure_speed, show  # noqa: PLC0415

    report = measure_speed(data_dir, Load(rate=rate, seconds=seconds), pairs)
    show(report)
    if out is not None:
        report.write(out)


@app.command()
def results(
    files: Annotated[list[Path], typer.Argument(help="Figures that benchmarks wrote as JSON.")],
) -> None:
    """Print figures as Markdown, for a document."""
    from evaluation.report import Report  # noqa: PLC0415

    for file in files:
        typer.echo(Report.model_validate_json(file.read_text(encoding="utf-8")).markdown())


def _chosen(path: Path, sample: int, seed: int) -> "Sequence[Pair]":
    from evaluation.pairs import read_pairs  # noqa: PLC0415

    pairs = read_pairs(path)
    if 0 < sample < len(pairs):
        drawn = set(random.Random(seed).sample(range(len(pairs)), sample))  # noqa: S311
        pairs = [pair for place, pair in enumerate(pairs) if place in drawn]
    return pairs


@contextmanager
def _open(data_dir: Path) -> "Iterator[Embedded]":
    from services.embedded import Embedded  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415

    with Embedded.open(PlatformSettings(data_dir=data_dir)) as platform:
        yield platform


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)


def _finish(report: "Report", out: Path | None, *, as_json: bool) -> None:
    from rich.console import Console  # noqa: PLC0415

    if out is not None:
        report.write(out)
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console = Console()
        wide = console if console.is_terminal else Console(width=_WIDTH_IN_FILES)
        for table in report.tables():
            wide.print(table)
