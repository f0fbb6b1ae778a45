"""Options that several benchmarks take."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from services.kit.files import require_file, require_folder, require_new_file

DataDir = Annotated[
    Path, typer.Option(help="Folder of an embedded run, already ingested.", callback=require_folder)
]
PairsFile = Annotated[
    Path,
    typer.Option("--pairs", help="JSON Lines of queries and references.", callback=require_file),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Also write the figures there, as JSON.", callback=require_new_file),
]
Sample = Annotated[int, typer.Option(help="Only this many pairs, drawn by the seed; 0 for all.")]
Seed = Annotated[int, typer.Option(help="Draws samples, random workflows and perturbations.")]
RecordFile = Annotated[
    Path | None,
    typer.Option(
        help="Keep the model's answers there, and take them from there.", callback=require_new_file
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
IdsHalf = Annotated[
    Literal["even", "odd", "all"], typer.Option(help="Rows by the sha256 of their id.")
]
CorpusDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the pages; `corpus` beside the folder of the pairs.",
        callback=require_folder,
    ),
]
OldWorkflows = Annotated[
    Path | None,
    typer.Option(
        help="Workflows of another planner, JSON Lines of id, workflow.", callback=require_file
    ),
]
JudgeAnswers = Annotated[
    Literal["none", "recorded"],
    typer.Option(help="Who decides what lines leave open: nobody, or a strong model's answers."),
]
