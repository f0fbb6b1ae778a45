"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_URL = "http://127.0.0.1:8080"

DataDir = Annotated[
    Path | None, typer.Option(help="Folder that keeps everything; FLOWXPERT_DATA_DIR.")
]
Host = Annotated[str | None, typer.Option(help="Address to listen on; FLOWXPERT_HOST.")]
Port = Annotated[int | None, typer.Option(help="Port, 0 for a free one; FLOWXPERT_PORT.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Url = Annotated[str, typer.Option(help="Where FlowXpert answers.")]
Platform = Annotated[
    str | None, typer.Option("--url", help="Where FlowXpert answers; FLOWXPERT_URL.")
]
