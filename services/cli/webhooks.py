"""`flowxpert webhooks`: what the bodies that ticket systems send become."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.opening import read_settings
from services.cli.options import AsJson

app = typer.Typer(no_args_is_help=True)


@app.callback()
def webhooks() -> None:
    """What ticket systems send."""


@app.command("try")
def try_bodies(
    path: Annotated[Path, typer.Argument(help="A file, or a folder of JSON files.", exists=True)],
    *,
    source: Annotated[str | None, typer.Option(help="Read all as this source's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recognise and translate bodies as the gateway would; nothing is stored, no proof is asked.

    With --json a line for each file; else a table, and how many files each source has.
    """
    from services.gateway.settings import GatewaySettings  # noqa: PLC0415
    from services.gateway.sources.reading import Reader  # noqa: PLC0415
    from services.gateway.sources.settings import WebhookSettings  # noqa: PLC0415
    from services.gateway.sources.trying import files_of, try_file  # noqa: PLC0415
    from services.terminal import show_tried  # noqa: PLC0415

    max_bytes = read_settings().max_body_bytes
    reader = Reader(GatewaySettings(), WebhookSettings())
    tried = (try_file(reader, file, source=source, max_bytes=max_bytes) for file in files_of(path))
    if as_json:
        for each in tried:
            typer.echo(each.model_dump_json())
    else:
        show_tried(list(tried), path)
