"""Whether the right page is found, and how sure retrieval may be of it."""

import time
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, DataDir, Out, PairsFile, Sample, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.pair_choice import chosen_pairs
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress

app = typer.Typer()


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
    chosen = chosen_pairs(pairs, sample, seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    with open_platform(data_dir) as platform:
        compared = searches(platform.retrieval, platform.vectors, platform.embedder)
        forms = sum(len(pair.forms) for pair in chosen if pair.gold_documents)
        with progress("retrieval", forms) as advance:
            figures = run(chosen, compared, config, lambda: time.perf_counter() - started, advance)
    finish(figures, out, as_json=as_json)


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
    with (
        open_platform(data_dir) as platform,
        progress("calibrate", len(known) + len(others)) as advance,
    ):
        found = fit(platform.retrieval, known, others, provenance, advance)
    if write:
        found.write()
    typer.echo(found.model_dump_json(indent=2))
