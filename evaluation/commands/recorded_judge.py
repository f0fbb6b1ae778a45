"""Duels and contests with and without a model's answers: questions out, answers in, figures."""

import time
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import (
    AsJson,
    CorpusDir,
    IdsHalf,
    JudgeAnswers,
    OldWorkflows,
    Out,
    PairsFile,
)
from evaluation.commands.outcome import finish
from evaluation.commands.platform import embedder_of
from evaluation.commands.progress import progress
from services.kit.files import require_file, require_folder, require_new_file, require_new_folder

app = typer.Typer()


@app.command()
def duels(
    *,
    pairs: PairsFile,
    old: OldWorkflows = None,
    corpus: CorpusDir = None,
    ids: IdsHalf = "all",
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Only rows whose plans were recorded.")
    ] = False,
    judge: JudgeAnswers = "none",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """A drawing against one worse workflow at a time: how often does it have the higher score?"""
    from evaluation.benches.scoring.duels import fought  # noqa: PLC0415
    from evaluation.benches.scoring.judge_setup import Judging, remembering  # noqa: PLC0415
    from evaluation.material.recorded_judge import scorer_with  # noqa: PLC0415
    from evaluation.report.contests_report import duels_report  # noqa: PLC0415

    started = time.perf_counter()
    embedder = remembering(embedder_of(None))
    judging = Judging(None, pairs, embedder, old, corpus)
    all_duels = judging.duels().all(judging.rows(ids, recorded=recorded))
    scorer, answers = scorer_with(judge, embedder, hears_others=False)
    with progress("duels", len(all_duels)) as advance:
        figures = fought(all_duels, scorer, advance)
    config: dict[str, object] = {"pairs": pairs.name, "ids": ids, "judge": judge}
    config |= {"recorded rows alone": recorded}
    config |= {"questions not recorded": len(answers.unknown)} if judge != "none" else {}
    seconds = round(time.perf_counter() - started, 1)
    finish(duels_report(figures, config, seconds), out, as_json=as_json)


@app.command()
def judge_prompts(
    *,
    pairs: PairsFile,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the questions, and of the answers.", callback=require_new_folder
        ),
    ],
    old: OldWorkflows = None,
    corpus: CorpusDir = None,
    guards_of: Annotated[
        int, typer.Option(min=0, help="Also rows beyond the recorded ones, for one wrong guard.")
    ] = 0,
    size: Annotated[int, typer.Option(min=1, help="Questions in a file.")] = 60,
) -> None:
    """What the scorer would ask a model about recorded plans and about duels, in files."""
    from evaluation.benches.scoring.judge_prompts import fact_questions, write_batches  # noqa: PLC0415
    from evaluation.benches.scoring.judge_setup import Judging, remembering  # noqa: PLC0415

    judging = Judging(None, pairs, remembering(embedder_of(None)), old, corpus)
    number = write_batches(fact_questions(judging, guards_of), out, size)
    typer.echo(f"{number} questions")


@app.command()
def record_judge(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of the questions and the answers.", callback=require_folder),
    ],
    *,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Where answers are kept; that of the strong model.", callback=require_new_file
        ),
    ] = None,
) -> None:
    """Keep the answers to questions, without the text of pages, for `--judge recorded`."""
    from evaluation.benches.scoring.judge_prompts import collected  # noqa: PLC0415
    from evaluation.material.recorded_judge import (  # noqa: PLC0415
        RECORDED_JUDGE,
        read_choices,
        write_choices,
    )

    path = record or RECORDED_JUDGE
    chosen = {row.key: row for row in collected(folder)}
    write_choices(path, (read_choices(path) | chosen).values())
    typer.echo(f"{len(chosen)} answers")


@app.command("best-of-n")
def best_of_n(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    plans: Annotated[
        Path | None,
        typer.Option(
            help="Recorded plans; those of a strong model that are kept here.",
            callback=require_file,
        ),
    ] = None,
    ids: IdsHalf = "all",
    judge: JudgeAnswers = "none",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Recorded samples and the reading of the page: does the scorer take the best?"""
    from evaluation.benches.scoring.best_of_n import figures_of  # noqa: PLC0415
    from evaluation.benches.scoring.judge_setup import Judging, remembering  # noqa: PLC0415
    from evaluation.material.recorded_judge import scorer_with  # noqa: PLC0415
    from evaluation.report.contests_report import best_of_n_report  # noqa: PLC0415

    started = time.perf_counter()
    embedder = remembering(embedder_of(None))
    judging = Judging(None, pairs, embedder, corpus=corpus, plans=plans)
    bench, rows = judging.best_of_n(), judging.rows(ids, recorded=True)
    scorer, answers = scorer_with(judge, embedder)
    with progress("best-of-n", len(rows)) as advance:
        contests = bench.contests(rows, scorer, advance)
    config: dict[str, object] = {"pairs": pairs.name, "ids": ids, "judge": judge}
    config |= {"questions not recorded": len(answers.unknown)} if judge != "none" else {}
    seconds = round(time.perf_counter() - started, 1)
    finish(best_of_n_report(figures_of(contests), config, seconds), out, as_json=as_json)
