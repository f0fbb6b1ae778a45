"""`flowxpert bench …`. What a benchmark needs is imported when it runs."""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from evaluation.pairs import Pair
    from evaluation.report.report import Report
    from services.contracts.planner import PlanRequest
    from services.embedded import Embedded
    from services.kit.settings import PlatformSettings

app = typer.Typer(no_args_is_help=True)

_WIDTH_IN_FILES = 160
"""Characters a table may take where no terminal says how many there are."""

_SECONDS_BETWEEN_LINES = 15

DataDir = Annotated[Path, typer.Option(help="Folder of an embedded run, already ingested.")]
PairsFile = Annotated[Path, typer.Option("--pairs", help="JSON Lines of queries and references.")]
Out = Annotated[Path | None, typer.Option(help="Also write the figures there, as JSON.")]
Sample = Annotated[int, typer.Option(help="Only this many pairs, drawn by the seed; 0 for all.")]
Seed = Annotated[int, typer.Option(help="Draws samples, random workflows and perturbations.")]
Draws = Annotated[int, typer.Option(min=1, help="Times each perturbation is drawn.")]
Severities = Annotated[str, typer.Option(help="Shares of the steps that are touched, by commas.")]
Parts = Annotated[
    str, typer.Option(help="Of the scorer: evidence, and judge and likelihood by a model.")
]
RecordFile = Annotated[
    Path | None, typer.Option(help="Keep the model's answers there, and take them from there.")
]
PairsAtOnce = Annotated[
    int, typer.Option("--at-once", min=1, help="Pairs that are scored at a time.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Forms = Literal["first", "all"]
Rows = Annotated[Path | None, typer.Option(help="Also write each answer's figures.")]


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
    from evaluation.benches.comparison_setup import model_config, open_comparison  # noqa: PLC0415
    from evaluation.benches.planners import method_named  # noqa: PLC0415
    from evaluation.report.workflow_report import report  # noqa: PLC0415

    started = time.perf_counter()
    method = method_named(planner)
    chosen = _chosen(pairs, sample, seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    config |= {"planner": planner, "context": "gold pages (oracle)" if oracle else "retrieved"}
    with _open(data_dir) as platform:
        config |= model_config(platform, seed) if method.asks_model else {}
        bench = open_comparison(platform, seed=seed, record=record, oracle=oracle)
        with _progress("workflows", sum(len(pair.forms) for pair in chosen)) as advance:
            measured = bench.entry(planner, chosen, advance).rows
    _write_rows(rows, (row.record() for row in measured))
    seconds = round(time.perf_counter() - started, 1)
    _finish(report(measured, config, seconds), out, as_json=as_json)


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
    from evaluation.benches.comparison_setup import model_config, open_comparison  # noqa: PLC0415
    from evaluation.benches.planners import PLANNERS, method_named  # noqa: PLC0415
    from evaluation.report.comparison_report import report  # noqa: PLC0415

    started = time.perf_counter()
    names = [name.strip() for name in planner.split(",") if name.strip()] or list(PLANNERS)
    asking = any(method_named(name).asks_model for name in names)
    chosen = _stratified(pairs, sample, seed, forms)
    config: dict[str, object] = {"pairs": pairs.name, "sample": len(chosen), "seed": seed}
    config |= {"forms": forms}
    with _open(data_dir) as platform:
        config["documents"] = len(platform.documents.hashes())
        config |= model_config(platform, seed) if asking else {}
        comparison = open_comparison(platform, seed=seed, record=record)
        if at_once > 1 and record:
            _ask_ahead(platform, comparison.requests(names, chosen), seed, record, at_once)
        total = len(names) * sum(len(pair.forms) for pair in chosen)
        with _progress("planners", total) as advance:
            entries = [comparison.entry(name, chosen, advance) for name in names]
    unanswered = sum(entry.spent.failures for entry in entries)
    if unanswered:
        typer.echo(f"{unanswered} calls were not answered; the same command asks again", err=True)
    _write_rows(rows, ({"planner": e.name, **row.record()} for e in entries for row in e.rows))
    seconds = round(time.perf_counter() - started, 1)
    _finish(report(entries, config, seconds, seed), out, as_json=as_json)


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
    from evaluation.benches.retrieval import run, searches  # noqa: PLC0415

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
def graph(*, data_dir: DataDir, out: Out = None, as_json: AsJson = False) -> None:
    """What `flowxpert build-graph` made, against the structural nodes and against the pages."""
    from evaluation.benches.graph import built_documents, report  # noqa: PLC0415

    started = time.perf_counter()
    with _open(data_dir) as platform:
        found = built_documents(platform)
    _finish(report(found, round(time.perf_counter() - started, 1)), out, as_json=as_json)


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
    from evaluation.benches.calibration import calibrate as fit  # noqa: PLC0415
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
    draws: Draws = 3,
    severities: Severities = "0.1,0.3,0.5",
    parts: Parts = "evidence,judge,likelihood",
    record: RecordFile = None,
    at_once: PairsAtOnce = 1,
    sample: Sample = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Whether the score falls as references are made worse, each kind of perturbation apart."""
    from evaluation.benches.scorer_setup import Choice, bench_of  # noqa: PLC0415

    choice = Choice.of(_chosen(pairs, sample, seed), severities, parts, draws=draws, seed=seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    config |= {"draws": draws, "severities": severities}
    with _open(data_dir) as platform:
        bench, model = bench_of(platform, choice, record, at_once)
        config |= {"model": model, "parts": parts} if model else {}
        with _progress("scorer", len(choice.pairs)) as advance:
            figures = bench.run(choice.pairs, config, advance)
    _finish(figures, out, as_json=as_json)


@app.command("fit-scorer")
def fit_scorer(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    draws: Draws = 1,
    severities: Severities = "0.3,0.5",
    parts: Parts = "evidence,judge,likelihood",
    record: RecordFile = None,
    at_once: PairsAtOnce = 1,
    sample: Sample = 0,
    seed: Seed = 0,
    write: Annotated[
        bool, typer.Option("--write", help="Make the result the weights in use for this model.")
    ] = False,
) -> None:
    """Fit what judge and likelihood have to say, on even ids; reported on the odd."""
    from evaluation.benches.fitting import fit  # noqa: PLC0415
    from evaluation.benches.scorer_setup import Choice, bench_of, provenance  # noqa: PLC0415
    from services.scorer.weights import WEIGHTS  # noqa: PLC0415

    choice = Choice.of(_chosen(pairs, sample, seed), severities, parts, draws=draws, seed=seed)
    with _open(data_dir) as platform:
        bench, model = bench_of(platform, choice, record, at_once)
        with _progress("fit-scorer", len(choice.pairs)) as advance:
            judged = bench.judge_all(choice.pairs, advance)
    found = fit(judged, provenance(pairs.name, choice, sample))
    if write:
        WEIGHTS.with_model(model, found).write()
    typer.echo(found.model_dump_json(indent=2))


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
    from evaluation.benches.speed import Load, measure_speed, show  # noqa: PLC0415

    report = measure_speed(data_dir, Load(rate=rate, seconds=seconds), pairs)
    show(report)
    if out is not None:
        report.write(out)


@app.command()
def overhead(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    latency: Annotated[float, typer.Option(help="Seconds that a scripted call takes.")] = 2.0,
    tickets: Annotated[int, typer.Option(min=1, help="Tickets walked on each model.")] = 20,
    out: Out = None,
) -> None:
    """What the platform adds to the model's own time, on a scripted model and on the set one."""
    from evaluation.benches.overhead import measure_overhead, show  # noqa: PLC0415

    report = measure_overhead(
        _settings(data_dir).data_dir,
        pairs,
        latency_s=latency,
        tickets=tickets,
        say=lambda line: typer.echo(line, err=True),
    )
    show(report)
    if out is not None:
        report.write(out)


@app.command()
def results(
    files: Annotated[list[Path], typer.Argument(help="Figures that benchmarks wrote as JSON.")],
    *,
    notes: Annotated[
        Path | None, typer.Option(help="Markdown that says what is learned from the figures.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a page there, its pictures in images/ beside it.")
    ] = None,
) -> None:
    """Print figures as Markdown, or write a page with pictures."""
    from evaluation.report.report import Report  # noqa: PLC0415
    from evaluation.report.results_page import results_page  # noqa: PLC0415

    reports = [Report.model_validate_json(file.read_text(encoding="utf-8")) for file in files]
    if out is None:
        for report in reports:
            typer.echo(report.markdown())
        return
    words = ["flowxpert bench results", *map(str, files)]
    words += [f"--notes {notes}"] if notes else []
    said = notes.read_text(encoding="utf-8") if notes else ""
    results_page(reports, " ".join([*words, f"--out {out}"]), said).write(out)


def _ask_ahead(
    platform: "Embedded", requests: "Sequence[PlanRequest]", seed: int, record: Path, at_once: int
) -> None:
    from evaluation.benches.comparison_setup import planner_settings, recording_planner  # noqa: PLC0415
    from evaluation.benches.parallel_plans import ask_ahead  # noqa: PLC0415

    if platform.model:
        settings = planner_settings(seed)
        planner = recording_planner(platform.model, record, at_once, platform.embedder, settings)
        with _progress("the model's plans", len(requests)) as advance:
            ask_ahead(planner, requests, at_once, advance)


def _write_rows(path: Path | None, records: "Iterable[Mapping[str, object]]") -> None:
    """As JSON Lines, where a file was asked for."""
    if path is not None:
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def _stratified(path: Path, sample: int, seed: int, forms: str) -> "Sequence[Pair]":
    """Pairs with a reference, as many of each set."""
    from evaluation.benches.sampling import first_form_only, stratified  # noqa: PLC0415
    from evaluation.pairs import read_pairs  # noqa: PLC0415

    referenced = [pair for pair in read_pairs(path) if pair.reference and pair.reference.steps]
    chosen = stratified(referenced, sample, seed)
    return [first_form_only(pair) for pair in chosen] if forms == "first" else chosen


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
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    with Embedded.open(_settings(data_dir)) as platform:
        if not platform.documents.hashes():
            raise InvalidInputError(f"nothing is ingested in {str(data_dir)!r}: `flowxpert ingest`")
        yield platform


def _settings(data_dir: Path) -> "PlatformSettings":
    """The platform's settings; what is logged from now on goes where they say."""
    from services.kit.logging import configure_logging  # noqa: PLC0415
    from services.kit.settings import PlatformSettings  # noqa: PLC0415

    settings = PlatformSettings(data_dir=data_dir)
    configure_logging(log_format=settings.log_format, level=settings.log_level)
    return settings


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines_of_progress(title, total)
        return
    with Progress(console=console) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)


def _lines_of_progress(title: str, total: int) -> Callable[[], None]:
    """A line now and then, for logs, where a bar would show at the end only."""
    done, said = 0, time.monotonic()

    def advance() -> None:
        nonlocal done, said
        done += 1
        if done == total or time.monotonic() - said >= _SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            typer.echo(f"{title}: {done} of {total}", err=True)

    return advance


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
