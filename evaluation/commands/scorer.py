"""Whether the score falls as workflows get worse."""

from typing import Annotated

import typer

from evaluation.commands.options import AsJson, DataDir, Out, PairsFile, RecordFile, Sample, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.pair_choice import chosen_pairs
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress

app = typer.Typer()

Draws = Annotated[int, typer.Option(min=1, help="Times each perturbation is drawn.")]
Severities = Annotated[str, typer.Option(help="Shares of the steps that are touched, by commas.")]
Judged = Annotated[
    bool, typer.Option("--judged/--evidence", help="Whether the model decides open facts.")
]
PairsAtOnce = Annotated[
    int, typer.Option("--at-once", min=1, help="Pairs that are scored at a time.")
]


@app.command()
def scorer(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    draws: Draws = 3,
    severities: Severities = "0.1,0.3,0.5",
    judged: Judged = True,
    record: RecordFile = None,
    at_once: PairsAtOnce = 1,
    sample: Sample = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Whether the score falls as references are made worse, each kind of perturbation apart."""
    from evaluation.benches.scoring.scorer_setup import Choice, bench_of  # noqa: PLC0415

    choice = Choice.of(chosen_pairs(pairs, sample, seed), severities, draws=draws, seed=seed)
    config: dict[str, object] = {"pairs": pairs.name, "sample": sample, "seed": seed}
    config |= {"draws": draws, "severities": severities}
    with open_platform(data_dir) as platform:
        bench, model = bench_of(platform, choice, record, at_once, is_judged=judged)
        config |= {"model": model} if model else {}
        with progress("scorer", len(choice.pairs)) as advance:
            figures = bench.run(choice.pairs, config, advance)
    finish(figures, out, as_json=as_json)
