"""Commands of a platform, and the handling of their failures."""

import json
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.commands import app as bench
from services.cli.access import audit, keys_app, people_app, sessions_app
from services.cli.compose import compose, edit
from services.cli.coverage import coverage
from services.cli.execution import execute, search, simulate
from services.cli.learning import app as learning
from services.cli.mcp import mcp
from services.cli.model_passes import build_graph, read
from services.cli.platform_access import (
    DEFAULT_URL,
    AsJson,
    DataDir,
    Host,
    Port,
    Url,
    client_of,
    open_platform,
    print_json,
    read_settings,
    say,
)
from services.cli.proposals import app as proposals
from services.cli.readings import app as readings
from services.cli.reference import metrics, settings
from services.cli.shutdown import Shutdown, exit_now, handle_signals, ignore_signals
from services.cli.sources import app as sources
from services.cli.tickets import answer, dead_letters_app
from services.cli.tickets import app as tickets
from services.cli.tools import app as tools
from services.cli.training import app as training
from services.cli.triage import teams_app, triage_app
from services.cli.upkeep import backup, migrate, restore
from services.cli.webhooks import app as webhooks
from services.deployment.rooms import ROOMS, SETTINGS, find_room
from services.kit.files import (
    read_json,
    require_file_or_folder,
    require_folder,
    require_new_file,
    stream_lines,
)

if TYPE_CHECKING:
    from services.contracts.ingestion import IngestJob
    from services.contracts.readings import Readings
    from services.deployment.embedded import Embedded
    from services.deployment.process import ServiceProcess
    from services.kit.errors import FlowXpertError

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE_ALERT = Path("alerts") / "alertmanager" / "fan-tray.json"
EXAMPLE_WAIT_S = 60

ACCESS_IS_OFF = (
    "Access is off: whoever uses this machine may do everything, also approve. "
    "`flowxpert keys create`, FLOWXPERT_API_KEY or an issuer switch it on."
)

app = typer.Typer(
    help="Operation documents become checked, cited, ranked troubleshooting workflows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(readings, name="readings", help="What the pages tell to do, and who says so.")
app.add_typer(proposals, name="proposals", help="Pages that wait to be accepted.")
app.add_typer(webhooks, name="webhooks", help="What ticket systems send.")
app.add_typer(tickets, name="tickets", help="The tickets that are kept.")
app.add_typer(dead_letters_app, name="dead-letters", help="What the queue has given up.")
app.add_typer(sources, name="sources", help="What is synced on a schedule.")
app.add_typer(keys_app, name="keys", help="Keys that programs call with.")
app.add_typer(sessions_app, name="sessions", help="Browsers that are signed in.")
app.add_typer(people_app, name="people", help="People who signed in and wrote.")
app.add_typer(learning, name="learn", help="What tickets teach, and what of it serves.")
app.add_typer(tools, name="tools", help="What runs may use.")
app.command()(read)
app.command()(audit)
app.command()(migrate)
app.command()(metrics)
app.command()(backup)
app.command()(restore)
app.add_typer(teams_app, name="teams")
app.add_typer(triage_app, name="triage")
app.command()(answer)
app.command()(coverage)
app.command()(execute)
app.command()(search)
app.command()(simulate)
app.command()(mcp)
app.command()(compose)
app.command()(edit)
app.add_typer(bench, name="bench", help="Measure against reference data.")
app.add_typer(training, name="train", help="Train adapters, offline.")


def _require_root(path: Path) -> Path:
    """Check what is ingested, unless it is the name of the accepted pages."""
    from services.contracts.proposals import ACCEPTED_PAGES  # noqa: PLC0415

    return path if str(path) == ACCEPTED_PAGES else require_file_or_folder(path)


ServiceName = StrEnum("ServiceName", {room.name: room.name for room in ROOMS})  # type: ignore[misc] # names that are known when it runs
"""Names of the rooms, as an argument."""


class WorkflowForm(StrEnum):
    """Format in which a workflow is printed."""

    SHOWN = "shown"
    JSON = "json"
    MERMAID = "mermaid"
    TEXT = "text"
    CODE = "code"
    MARKDOWN = "markdown"


@app.command()
def up(*, data_dir: DataDir = None, host: Host = None, port: Port = None) -> None:
    """Start everything in this process and serve until Ctrl-C."""
    stopping = handle_signals()
    settings = read_settings(data_dir=data_dir, host=host, port=port)
    with open_platform(settings) as platform:
        message = "FlowXpert answers at [bold]{url}[/]; Ctrl-C ends."
        _serve(platform, lambda url: say(message.format(url=url)), stopping)


@app.command()
def serve(
    service: Annotated[ServiceName, typer.Argument(help="The service to run.")],
    *,
    data_dir: DataDir = None,
    host: Host = None,
    port: Port = None,
    work: Annotated[
        bool, typer.Option(help="Whether it works on its queue too; `flowxpert work` does else.")
    ] = True,
) -> None:
    """Run one service in this process; it reaches the others at the addresses in the settings."""
    from services.deployment.process import ProcessRole, ServiceProcess  # noqa: PLC0415

    stopping = handle_signals()
    settings = read_settings(data_dir=data_dir, host=host, port=port)
    with ServiceProcess(
        find_room(service), settings, role=ProcessRole.ALL if work else ProcessRole.SERVE
    ) as serving:
        message = f"{service} answers at [bold]{{url}}[/]; Ctrl-C ends."
        _serve(serving, lambda url: say(message.format(url=url)), stopping)


@app.command()
def work(
    service: Annotated[ServiceName, typer.Argument(help="The service whose queue is worked on.")],
    *,
    data_dir: DataDir = None,
    host: Host = None,
    port: Port = None,
) -> None:
    """Work on a service's queue in this process, beside the one that serves.

    Any number may run. It answers probes and metrics only. Each on one host needs a data folder of
    its own.
    """
    from services.deployment.process import ProcessRole, ServiceProcess  # noqa: PLC0415

    stopping = handle_signals()
    settings = read_settings(data_dir=data_dir, host=host, port=port)
    with ServiceProcess(find_room(service), settings, role=ProcessRole.WORK) as serving:
        message = f"A worker of {service}; probes and metrics at [bold]{{url}}[/]; Ctrl-C ends."
        _serve(serving, lambda url: say(message.format(url=url)), stopping)


@app.command()
def run(
    *,
    data_dir: DataDir = None,
    host: Host = None,
    port: Port = None,
    examples: Annotated[
        Path, typer.Option(help="Folder with documents and alerts.", callback=require_folder)
    ] = EXAMPLES,
    alert: Annotated[Path, typer.Option(help="Alert in that folder to post.")] = EXAMPLE_ALERT,
    once: Annotated[bool, typer.Option(help="End when the workflow is printed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ingest the examples, start everything, and turn an example alert into a workflow."""
    from services.cli.terminal import show_failures  # noqa: PLC0415

    stopping = handle_signals()
    settings = read_settings(data_dir=data_dir, host=host, port=port)
    body: object = read_json(examples / alert)

    def show(url: str) -> None:
        _post_example(url, body, alert.name, as_json=as_json)
        if once:
            raise KeyboardInterrupt
        say(f"Open [bold]{url}[/] in a browser; Ctrl-C ends.")

    with open_platform(settings) as platform:
        job = _ingest(platform, examples / "documents", quiet=as_json)
        show_failures(job.failed, job.failures)
        _import_readings(platform, examples / "readings.jsonl")
        _serve(platform, show, stopping)


@app.command()
def ingest(
    path: Annotated[
        Path,
        typer.Argument(help="A file, folder, zip archive or Git checkout.", callback=_require_root),
    ],
    *,
    data_dir: DataDir = None,
    prune: Annotated[bool, typer.Option(help="Remove documents that are gone.")] = True,
    as_json: AsJson = False,
) -> None:
    """Ingest the documents under PATH into the stores; a broken-off ingest goes on.

    The exit status is 1 when a document failed; the others are taken in.
    """
    from services.cli.terminal import show_job  # noqa: PLC0415
    from services.contracts.ingestion import JobStatus  # noqa: PLC0415

    with open_platform(read_settings(data_dir=data_dir)) as platform:
        job = _ingest(platform, path, prune=prune, quiet=as_json)
    if as_json:
        print_json(job)
    else:
        show_job(job)
    if job.status is JobStatus.FAILED or job.failures:
        raise typer.Exit(1)


@app.command()
def roots(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the roots that documents came from, with the number of documents of each."""
    from services.cli.terminal import show_roots  # noqa: PLC0415

    with open_platform(read_settings(data_dir=data_dir)) as platform:
        ingested_roots = platform.ingestion.roots()
    if as_json:
        typer.echo(json.dumps([root.model_dump() for root in ingested_roots], indent=2))
    else:
        show_roots(ingested_roots)


@app.command()
def forget(
    root: Annotated[str, typer.Argument(help="A root that `flowxpert roots` lists.")],
    *,
    data_dir: DataDir = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove all documents of one ROOT from the stores, not from the disk.

    For a folder that was moved, renamed or given up. A broken-off removal goes on.
    """
    from services.cli.terminal import show_job  # noqa: PLC0415

    with open_platform(read_settings(data_dir=data_dir)) as platform:
        ingested_root = platform.ingestion.root_here(root)
        if not yes:
            question = (
                f"Remove {ingested_root.documents} documents of {ingested_root.path}"
                " from all stores?"
            )
            typer.confirm(question, abort=True, err=True)
        job = platform.ingestion.forget_here(ingested_root)
    if as_json:
        print_json(job)
    else:
        show_job(job)


app.command()(build_graph)


@app.command()
def reindex(*, data_dir: DataDir = None) -> None:
    """Rebuild vectors and graph from the stored documents; searches go on meanwhile.

    Needed after another vector store, graph store or embedding model was chosen.
    """
    from services.cli.terminal import count_progress  # noqa: PLC0415

    with (
        open_platform(read_settings(data_dir=data_dir)) as platform,
        count_progress("documents") as on_progress,
    ):
        done = platform.ingestion.reindex(on_progress)
    typer.echo(f"{done} documents")


@app.command()
def ticket(ticket_id: str, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show a ticket with its best workflow, or why there is none."""
    from services.cli.terminal import (  # noqa: PLC0415
        show_questions,
        show_refusal,
        show_triage,
        show_workflow,
    )
    from services.contracts.gateway import StoredWorkflow, TicketDetail  # noqa: PLC0415

    with client_of(url) as client:
        detail = TicketDetail.model_validate(client.get(f"/v1/tickets/{ticket_id}"))
        best = client.get(detail.candidates[0].url) if detail.candidates else None
    if as_json:
        print_json(detail)
        return
    if best is None:
        show_refusal(detail)
    else:
        show_workflow(StoredWorkflow.model_validate(best))
    show_questions(detail)
    if detail.triage:
        show_triage(detail.triage)


@app.command()
def workflow(
    workflow_id: str,
    *,
    url: Url = DEFAULT_URL,
    form: Annotated[WorkflowForm, typer.Option("--format")] = WorkflowForm.SHOWN,
    whole: Annotated[
        bool, typer.Option("--whole", help="Of a page: sections that are not asked for, too.")
    ] = False,
) -> None:
    """Show a stored workflow, drawn here or in one of its written forms."""
    from services.cli.terminal import show_workflow  # noqa: PLC0415
    from services.contracts.gateway import StoredWorkflow  # noqa: PLC0415

    address = f"/v1/workflows/{workflow_id}"
    with client_of(url) as client:
        if form is WorkflowForm.SHOWN:
            show_workflow(StoredWorkflow.model_validate(client.get(address)), whole=whole)
        else:
            typer.echo(client.get_text(address, format=form.value))


app.command()(settings)


@app.command()
def export_embedder(
    path: Annotated[
        Path | None, typer.Argument(help="The file to make.", callback=require_new_file)
    ] = None,
    *,
    data_dir: DataDir = None,
) -> None:
    """Export the embedding model's ONNX files, for processes that may not write them.

    Without PATH they go where the settings look for them.
    """
    from services.kit.settings import EmbedderChoice  # noqa: PLC0415
    from services.knowledge.embedding.onnx_model import ensure_model_file  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    if path is not None:
        settings = settings.model_copy(update={"embedder_file": path})
    for choice in (EmbedderChoice.ONNX, EmbedderChoice.ONNX_INT8):
        target = settings.embedder_path(choice)
        ensure_model_file(target, is_int8=choice is EmbedderChoice.ONNX_INT8)
        typer.echo(target)


def _serve(
    platform: "Embedded | ServiceProcess", then: Callable[[str], None], stopping: Shutdown
) -> None:
    """Serve until it is stopping; `then` is called with the address once it answers.

    In the end no more tasks are taken; open requests and the running task get a bounded time.
    """
    from services.kit.data_dir import describe_owner  # noqa: PLC0415
    from services.kit.http.server import ServerThread  # noqa: PLC0415

    server = ServerThread(platform.app, host=platform.settings.host, port=platform.settings.port)
    try:
        platform.start()
        server.start()
        describe_owner(platform.settings.data_dir, server.url)
        if not platform.app.state.access.is_on:
            say(ACCESS_IS_OFF)
        then(server.url)
        stopping.wait()
        say("stopping")
    except KeyboardInterrupt:
        say("stopping")
    finally:
        platform.retire()
        platform.app.state.stopping.set()
        server.stop()
        platform.close()
        ignore_signals()
        if platform.is_working:
            exit_now()


def _ingest(
    platform: "Embedded", path: Path, *, prune: bool = True, quiet: bool = False
) -> "IngestJob":
    from services.cli.terminal import ingest_progress  # noqa: PLC0415

    if quiet:
        return platform.ingestion.ingest_here(path, prune=prune)
    with ingest_progress(path.name) as on_progress:
        return platform.ingestion.ingest_here(path, prune=prune, on_progress=on_progress)


def _import_readings(platform: "Embedded", path: Path) -> None:
    """Import the examples' readings as approved, each once.

    Changes that people made to one afterwards, such as withdrawing its approval, stay.
    """
    from services.kit.access.caller import LOCAL  # noqa: PLC0415

    if not path.exists():
        return
    with closing(stream_lines(path)) as lines:
        readings = platform.ingestion.readings(LOCAL.name)
        report = readings.import_lines(_skip_imported(readings, lines), approve=True)
    for note in report.refused:
        say(f"{path.name}, line {note.row}: {note.reason}")


def _skip_imported(readings: "Readings", lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines, a blank one for each whose page has had an import."""
    from services.kit.errors import NotFoundError  # noqa: PLC0415
    from services.runbook.ports import Happening  # noqa: PLC0415

    for line in lines:
        try:
            happened = readings.history(json.loads(line)["text_hash"])
        except NotFoundError:  # no document has the text, which the import tells
            happened = []
        is_imported = any(event.what is Happening.IMPORTED for event in happened)
        yield b"\n" if is_imported else line


def _post_example(url: str, alert: object, name: str, *, as_json: bool) -> None:
    """Post the alert as any ticket system would, and show the outcome."""
    from services.cli.terminal import show_refusal, show_workflow  # noqa: PLC0415
    from services.contracts.gateway import Accepted, StoredWorkflow, TicketDetail  # noqa: PLC0415

    with client_of(url) as client:
        answer = client.post("/workflow", alert, wait=EXAMPLE_WAIT_S)
        first = Accepted.model_validate(answer).tickets[0]
        detail = TicketDetail.model_validate(client.get(first.status_url))
        best = client.get(detail.candidates[0].url) if detail.candidates else None
    if as_json:
        typer.echo(json.dumps(best or detail.model_dump(mode="json")))
    elif best is None:
        show_refusal(detail)
    else:
        say(f"\n[bold]{detail.title}[/] ({name})")
        show_workflow(StoredWorkflow.model_validate(best))


def main() -> None:
    """Run a command: an expected failure is one line, not a traceback.

    A caller that asked for JSON finds it on stdout whatever happens: the result, or the failure in
    the shape that it has over HTTP.
    """
    is_for_programs = "--json" in sys.argv[1:]
    failure, status = _failure(is_for_programs=is_for_programs)
    if failure is not None and is_for_programs:
        typer.echo(json.dumps(failure))
    elif failure is not None:
        sys.stderr.write(f"{failure['detail']}\n")
    sys.exit(status)


def _failure(*, is_for_programs: bool) -> tuple[dict[str, str] | None, int]:
    """Run the command; return its failure, if any, and the exit status.

    For people typer itself says what is wrong with the words of a command, and Python where a
    defect is.
    """
    from pydantic import ValidationError  # noqa: PLC0415

    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415
    from services.kit.errors import FlowXpertError, InvalidInputError  # noqa: PLC0415
    from services.kit.files import describe_os_errors  # noqa: PLC0415
    from services.kit.settings import describe_errors  # noqa: PLC0415

    try:
        with acting_as(LOCAL), describe_os_errors():
            return None, app(standalone_mode=not is_for_programs) or 0
    except FlowXpertError as error:
        return _error_body(error), 2 if isinstance(error, InvalidInputError) else 1
    except ValidationError as error:
        lines = describe_errors(error, SETTINGS)
        return InvalidInputError("\n".join(lines)).body(), 2
    except typer.TyperException as error:
        return InvalidInputError(error.format_message()).body(), error.exit_code
    except typer.Abort:
        if not is_for_programs:
            raise
        return InvalidInputError("not confirmed: nothing was changed").body(), 1
    except Exception:  # the command line's edge
        if not is_for_programs:
            raise
        traceback.print_exc()
        return {"error": "InternalError", "detail": "a defect; stderr has the traceback"}, 1


def _error_body(error: "FlowXpertError") -> dict[str, str]:
    """Return the error's body; for an unknown caller it says how a command authenticates."""
    from services.kit.access.credentials import MissingCredentialError  # noqa: PLC0415
    from services.kit.errors import UnauthorizedError  # noqa: PLC0415

    body = error.body()
    if isinstance(error, MissingCredentialError):
        body["detail"] = "a key is needed: set FLOWXPERT_TOKEN to one, or to a person's token"
    elif isinstance(error, UnauthorizedError):
        body["detail"] += ": it came from FLOWXPERT_TOKEN, else from FLOWXPERT_API_KEY"
    return body
