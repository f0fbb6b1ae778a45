"""The logic of workflows against drawn pages."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluation.commands.options import AsJson, CorpusDir, IdsHalf, Out, PairsFile
from evaluation.commands.outcome import finish
from evaluation.commands.platform import embedder_of, open_platform
from evaluation.commands.progress import progress
from services.kit.files import require_file, require_folder

app = typer.Typer()


@app.command()
def logic(
    *,
    pairs: PairsFile,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder of an embedded run, already ingested.", callback=require_folder),
    ] = None,
    reader: Annotated[
        Literal["stored", "recorded", "plans"],
        typer.Option(
            help="Who reads a page that is given: whoever did before; or a model whose answers"
            " were recorded (rows that were not are left out). `plans`: the workflows that "
            "a model wrote for the ticket, recorded too; without --page-given they compete."
        ),
    ] = "recorded",
    page_given: Annotated[
        bool, typer.Option("--page-given", help="Read the row's page alone, without retrieval.")
    ] = False,
    without_page: Annotated[
        bool, typer.Option("--without-page", help="Hide the row's page from retrieval.")
    ] = False,
    workflows: Annotated[
        Path | None,
        typer.Option(
            help="Measure these, JSON Lines of id and workflow; others count as none.",
            callback=require_file,
        ),
    ] = None,
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
    first: Annotated[int, typer.Option(min=0, help="Only the first rows; 0 for all.")] = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """What is done under which condition: workflows against drawn pages.

    Of a ticket's whole walk, of its page read alone, or of workflows in a file.
    """
    from evaluation.benches.logic.bench import drawn_cases, measure  # noqa: PLC0415
    from evaluation.benches.logic.conditions import condition_figures  # noqa: PLC0415
    from evaluation.benches.logic.setup import Way  # noqa: PLC0415
    from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415
    from evaluation.measures.approval_cost import approval_costs  # noqa: PLC0415
    from evaluation.report.logic_report import report  # noqa: PLC0415

    started = time.perf_counter()
    rows = chosen_rows(read_rows(pairs), ids, limit_per_set, first)
    config: dict[str, object] = {"pairs": pairs.name, "ids": ids}
    config |= {"limit_per_set": limit_per_set, "first": first}
    with open_platform(data_dir) if data_dir else nullcontext() as platform:
        embedder = embedder_of(platform)
        way = Way(
            platform,
            pairs,
            reader,
            is_without_retrieval=page_given,
            is_page_hidden=without_page,
            workflows=workflows,
            corpus=corpus,
            answers=answers,
            embedder=embedder,
        )
        rows = way.rows(rows)
        make = way.make(rows)
        with progress("logic", len(rows)) as advance:
            results = measure(rows, make, embedder, advance)
        alone = page_given and not any(row.text for row in rows)
        conditions = (
            condition_figures(rows, results, reader, way.page_of(), embedder) if alone else {}
        )
        approval = approval_costs(drawn_cases(rows, results), embedder) if alone else {}
    seconds = round(time.perf_counter() - started, 1)
    logic_report = report(results, conditions, approval, config | way.config(), seconds)
    finish(logic_report, out, as_json=as_json)
