"""`flowxpert webhooks`: try the bodies that ticket systems send."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.platform_access import AsJson, read_settings
from services.kit.files import require_file_or_folder

app = typer.Typer(no_args_is_help=True)


@app.callback()
def webhooks() -> None:
    """Work with the webhooks of ticket systems."""


@app.command("try")
def try_bodies(
    path: Annotated[
        Path,
        typer.Argument(help="A file, or a folder of JSON files.", callback=require_file_or_folder),
    ],
    *,
    source: Annotated[str | None, typer.Option(help="Read all as this source's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Recognise and translate bodies as the gateway would; nothing is stored, no proof is asked.

    With --json a line for each file; else a table, and how many files each source has. A refusal
    is a result like others: the exit status is 1 only where no file at all could be read.
    """
    from services.cli.terminal import show_tried  # noqa: PLC0415
    from services.integrations.sources.delivery_reader import DeliveryReader  # noqa: PLC0415
    from services.integrations.sources.dry_run import files_of, try_file  # noqa: PLC0415
    from services.integrations.sources.settings import WebhookSettings  # noqa: PLC0415
    from services.tickets.settings import GatewaySettings  # noqa: PLC0415

    max_bytes = read_settings().max_body_bytes
    reader = DeliveryReader(GatewaySettings(), WebhookSettings())
    tried = []
    for file in files_of(path):
        tried.append(try_file(reader, file, source=source, max_bytes=max_bytes))
        if as_json:
            typer.echo(tried[-1].model_dump_json())
    if not as_json:
        show_tried(tried, path)
    if not any(each.is_read for each in tried):
        raise typer.Exit(1)
