"""`flowxpert tools`: catalogue entries, imported from descriptions and tried on outputs."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.kit.errors import ConflictError, InvalidInputError
from services.kit.files import read_text, require_file, require_folder, require_new_file

if TYPE_CHECKING:
    from services.execution.tools.importing.entries import ImportResult

app = typer.Typer(no_args_is_help=True)
importing = typer.Typer(no_args_is_help=True)
app.add_typer(importing, name="import", help="Write entries of the catalogue, to be read by you.")

TargetKind = Annotated[str, typer.Option("--target", help="The kind of target that they are for.")]
Out = Annotated[
    Path | None,
    typer.Option(help="The file, `tools/x.yaml`; else it is printed.", callback=require_new_file),
]


class FileThereError(ConflictError):
    """The file exists, and somebody may have worked on it."""


@importing.command()
def openapi(
    file: Annotated[Path, typer.Argument(help="JSON or YAML.", callback=require_file)],
    *,
    target: TargetKind,
    out: Out = None,
) -> None:
    """Import the operations of an OpenAPI description: GET looks, all else changes something.

    Addresses and credentials stay in `targets.yaml`; nothing of the file's is taken over. What the
    catalogue cannot say is listed as left out.
    """
    from services.execution.tools.importing.openapi import import_openapi_tools  # noqa: PLC0415

    _write(import_openapi_tools(file, target), out)


@importing.command()
def mcp(
    *,
    target: TargetKind,
    command: Annotated[
        str, typer.Option(help="Starts the server here, which is spoken to over its input.")
    ] = "",
    url: Annotated[str, typer.Option(help="Where it answers else.")] = "",
    out: Out = None,
) -> None:
    """Import the tools that an MCP server lists; that one only looks is the server's own word."""
    from services.execution.adapters.mcp import list_tools  # noqa: PLC0415
    from services.execution.tools.importing.mcp import import_mcp_tools  # noqa: PLC0415
    from services.execution.tools.target import Target  # noqa: PLC0415

    if bool(command) is bool(url):
        raise InvalidInputError("name the server's --command or its --url")
    server = Target(name="server", kind=target, url=url, command=tuple(shlex.split(command)))
    _write(import_mcp_tools(list_tools(server), target), out)


@app.command(name="try")
def try_tool(
    name: Annotated[str, typer.Argument(help="The tool's name in the catalogue.")],
    *,
    catalogue: Annotated[
        Path, typer.Option(help="Folder of the catalogue.", callback=require_folder)
    ],
    output: Annotated[
        Path, typer.Option(help="What it answered, as it came.", callback=require_file)
    ],
    notices: Annotated[
        Path | None,
        typer.Option(
            help="What came beside it, by line: stderr of a command, `name: value` of headers.",
            callback=require_file,
        ),
    ] = None,
    platform: Annotated[str, typer.Option(help="Platform of the target, for `rows`.")] = "linux",
) -> None:
    """Print what a tool would know by an output; the exit status is 1 if it was not seen.

    Try each tool on an answer that found something, one that found nothing, and one that was
    refused, before an incident does. Nothing is called.
    """
    from services.execution.tools.catalogue import Catalogue  # noqa: PLC0415
    from services.execution.tools.outputs import read_output  # noqa: PLC0415

    tool = Catalogue.of_folder(catalogue).tool(name)
    text, beside = read_text(output), read_text(notices) if notices else ""
    if tool.way.by == "ssh":
        text = "\n".join(each for each in (text.rstrip("\n"), beside) if each)
    read = read_output(tool, text, platform, notices=beside.splitlines())
    typer.echo(f"not seen: {read.unseen}" if read.unseen else "seen")
    for field in tool.output.fields:
        typer.echo(f"{field}: {read.fields.get(field, 'not known')}")
    for line in read.lines:
        typer.echo(f"  {line}")
    raise typer.Exit(1 if read.unseen else 0)


def _write(imported: "ImportResult", out: Path | None) -> None:
    """Write the file, or print its content; report the numbers beside it."""
    if out is None:
        typer.echo(imported.yaml, nl=False)
    else:
        try:
            with out.open("x", encoding="utf-8") as file:
                file.write(imported.yaml)
        except FileExistsError as error:
            raise FileThereError(f"{out} is there: take another name, or move it away") from error
    summary = f"{len(imported.entries)} tools; left out: {len(imported.left_out)}"
    typer.echo(summary, err=True)
