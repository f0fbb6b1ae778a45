"""What a strong model read of pages, recorded."""

import json
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import CorpusDir, PairsFile
from evaluation.commands.progress import progress
from services.kit.files import (
    read_text,
    require_file,
    require_folder,
    require_new_file,
    require_new_folder,
    write_text,
)

app = typer.Typer()


@app.command()
def recorded_readings(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of the documents that were read.", callback=require_folder),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(help="JSON Lines for `flowxpert readings import`.", callback=require_new_file),
    ],
    answers: Annotated[
        Path | None,
        typer.Option(help="Recorded answers; those that are kept here.", callback=require_file),
    ] = None,
) -> None:
    """The readings that the recorded answers of a strong model come to."""
    from evaluation.material.folder_pages import pages_of  # noqa: PLC0415
    from evaluation.material.recorded_answers import (  # noqa: PLC0415
        RECORDED,
        read_answers,
        reading_rows,
    )

    rows = list(reading_rows(pages_of(folder), read_answers(answers or RECORDED)))
    write_text(out, "".join(json.dumps(row) + "\n" for row in rows))
    typer.echo(f"{len(rows)} readings")


@app.command()
def read_prompts(
    *,
    pairs: PairsFile,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the prompts, and of the answers.", callback=require_new_folder
        ),
    ],
    ids_file: Annotated[
        Path | None,
        typer.Option(
            help="Only the rows whose ids stand there, one a line.", callback=require_file
        ),
    ] = None,
    corpus: CorpusDir = None,
) -> None:
    """What the reader asks a model about the page of each row, a file each.

    Where answers are there already (NAME.answer.json), also what it says of them.
    """
    from evaluation.benches.logic.prompt_files import readings, write_prompts  # noqa: PLC0415
    from evaluation.benches.logic.setup import Way  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415

    wanted = read_text(ids_file).splitlines() if ids_file else None
    rows = [row for row in read_rows(pairs) if wanted is None or row.id in wanted]
    page_of = Way(None, pairs, corpus=corpus).page_of()
    with progress("prompts", len(rows)) as advance:
        write_prompts(rows, readings(page_of), out, advance)
    typer.echo(f"{len(rows)} prompts")


@app.command()
def record_readings(
    folder: Annotated[
        Path, typer.Argument(help="Folder of the prompts and the answers.", callback=require_folder)
    ],
    *,
    record: Annotated[
        Path,
        typer.Option(help="Where the answers are kept, beside others.", callback=require_new_file),
    ],
) -> None:
    """Keep the answers to prompts, without the text of pages, for `bench logic --answers`."""
    from evaluation.benches.logic.prompt_files import collected, placements  # noqa: PLC0415
    from evaluation.material.recorded_answers import (  # noqa: PLC0415
        RecordedAnswers,
        read_answers,
        write_answers,
    )

    placed = placements(folder)
    answered = {
        row.text_hash: RecordedAnswers(
            **row.model_dump(exclude={"id"}), placed=placed.get(row.text_hash)
        )
        for row in collected(folder)
    }
    before = read_answers(record) if record.exists() else {}
    write_answers(record, (before | answered).values())
    typer.echo(f"{len(answered)} pages")


@app.command()
def unplaced(
    *,
    pairs: PairsFile,
    answers: Annotated[
        Path | None,
        typer.Option(help="Recorded answers; those that are kept here.", callback=require_file),
    ] = None,
    corpus: CorpusDir = None,
) -> None:
    """What of the pages is in no step of recorded readings: callouts, commands, tables, items."""
    from evaluation.benches.logic.setup import Way  # noqa: PLC0415
    from evaluation.benches.logic.unplaced import unplaced_figures  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415
    from evaluation.material.recorded_answers import (  # noqa: PLC0415
        RECORDED,
        by_record,
        read_answers,
    )

    read = by_record(read_answers(answers or RECORDED))
    page_of = Way(None, pairs, corpus=corpus).page_of()
    pages = map(page_of, read_rows(pairs))
    figures = unplaced_figures((page, reading) for page in pages if (reading := read(page)))
    typer.echo("\n".join(f"{name:16} {value}" for name, value in figures.items()))
