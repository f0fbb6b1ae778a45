"""Whether the scorer tells right from wrong on drawn pages."""

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import (
    AsJson,
    CorpusDir,
    IdsHalf,
    OldWorkflows,
    Out,
    PairsFile,
    Seed,
)
from evaluation.commands.outcome import finish, write_rows
from evaluation.commands.platform import embedder_of, open_platform
from evaluation.commands.progress import progress
from services.kit.files import require_file, require_folder, require_new_file

app = typer.Typer()


@app.command()
def judge(
    *,
    pairs: PairsFile,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of an embedded run, whose scorer and pages are taken.",
            callback=require_folder,
        ),
    ] = None,
    page_given: Annotated[  # noqa: ARG001 - said for `bench logic`'s sake
        bool, typer.Option("--page-given", help="The row's page alone, as always here.")
    ] = True,
    old: OldWorkflows = None,
    corpus: CorpusDir = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Recorded answers; those of a strong model that are kept here.",
            callback=require_file,
        ),
    ] = None,
    ids: IdsHalf = "all",
    limit_per_set: Annotated[int, typer.Option(min=0, help="Most rows of a set; 0 for all.")] = 0,
    severity: Annotated[float, typer.Option(help="Share of the occasions that are taken.")] = 0.3,
    draws: Annotated[int, typer.Option(min=1, help="Times each perturbation is drawn.")] = 1,
    seed: Seed = 0,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Also write every workflow's scores there, as JSON Lines.",
            callback=require_new_file,
        ),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Drawn pages against flawed readings, mistakes made on purpose, and other pages."""
    from evaluation.benches.scoring.judge_setup import Judging, remembering  # noqa: PLC0415
    from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415
    from evaluation.report.judge_report import report  # noqa: PLC0415

    started = time.perf_counter()
    pool = read_rows(pairs)
    chosen = chosen_rows(pool, ids, limit_per_set)
    config: dict[str, object] = {"pairs": pairs.name, "ids": ids, "limit_per_set": limit_per_set}
    config |= {"severity": severity, "draws": draws, "seed": seed}
    with open_platform(data_dir) if data_dir else nullcontext() as platform:
        embedder = remembering(embedder_of(platform))
        judging = Judging(platform, pairs, embedder, old, corpus, answers)
        with progress("judge", len(chosen)) as advance:
            judged = judging.bench((severity,), draws, seed).run(chosen, pool, advance)
    write_rows(rows, (one.record() for one in judged))
    seconds = round(time.perf_counter() - started, 1)
    finish(report(judged, config | judging.config(), seconds), out, as_json=as_json)


@app.command("fit-judge")
def fit_judge(
    *,
    pairs: PairsFile,
    old: OldWorkflows = None,
    corpus: CorpusDir = None,
    without: Annotated[str, typer.Option(help="Sets that nothing is fitted on, with commas.")] = "",
    write: Annotated[bool, typer.Option("--write", help="Make the result the one in use.")] = False,
) -> None:
    """Fit what the scorer makes of lines, on even ids; figures are of odd ones."""
    from evaluation.benches.scoring.judge_setup import Judging, remembering  # noqa: PLC0415
    from evaluation.fitting.fit import fit  # noqa: PLC0415
    from evaluation.fitting.pieces import Workshop  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.pairs import is_fitted  # noqa: PLC0415

    unseen_sets = {name.strip() for name in without.split(",") if name.strip()}
    embedder = remembering(embedder_of(None))
    judging = Judging(None, pairs, embedder, old, corpus)
    workshop = Workshop(judging.pages(), embedder, judging.readers())
    rows = [row for row in read_rows(pairs) if row.reference]
    with progress("pieces", len(rows)) as advance:
        pieces = workshop.pieces(rows, advance)
    seen = [p for p in pieces if is_fitted(p[0].row.id) and p[0].row.set not in unseen_sets]
    unseen = [p for p in pieces if not is_fitted(p[0].row.id)]
    left_out = f"; sets left out: {', '.join(sorted(unseen_sets))}" if unseen_sets else ""
    provenance = f"flowxpert bench fit-judge on {pairs.name}: {len(seen)} rows of even id{left_out}"
    scoring_fit = fit(seen, unseen, embedder, provenance)
    if write:
        scoring_fit.write()
    figures = {"facts": scoring_fit.forests.figures, "chance": scoring_fit.chance.figures}
    typer.echo(json.dumps(figures, indent=1))


@app.command("fit-conditions")
def fit_conditions(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    write: Annotated[bool, typer.Option("--write", help="Make the result the one in use.")] = False,
) -> None:
    """Fit how likely a condition that a reader gives is right, on even ids; figures are of odd."""
    from evaluation.benches.scoring.judge_candidates import RECORDED  # noqa: PLC0415
    from evaluation.benches.scoring.judge_setup import Judging, remembering  # noqa: PLC0415
    from evaluation.fitting.conditions import fit_conditions  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.pairs import is_fitted  # noqa: PLC0415
    from evaluation.measures.conditions import condition_examples  # noqa: PLC0415

    embedder = remembering(embedder_of(None))
    judging = Judging(None, pairs, embedder, corpus=corpus)
    rows, read = [row for row in read_rows(pairs) if row.reference], judging.readers()[RECORDED]
    made = []
    with progress("readings", len(rows)) as advance:
        for row in rows:
            workflow = read(row)
            made += [(row, workflow)] if workflow else []
            advance()
    examples = list(condition_examples(made, RECORDED, judging.page_of(), embedder))
    seen = [each for each in examples if is_fitted(each.row)]
    unseen = [each for each in examples if not is_fitted(each.row)]
    provenance = (
        f"flowxpert bench fit-conditions on {pairs.name}: readings of"
        f" {len({each.row for each in seen})} pages of even id"
    )
    fitted = fit_conditions(seen, unseen, provenance)
    if write:
        fitted.write()
    bars = {kind.value: bar for kind, bar in fitted.bars.items()}
    typer.echo(json.dumps({"bars": bars, "figures": fitted.figures}, indent=1))
