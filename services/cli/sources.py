"""`flowxpert sources`: manage folders and Git repositories that a running platform syncs."""

from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import DEFAULT_URL, AsJson, Url, client_of, print_json

if TYPE_CHECKING:
    from services.contracts.syncing import Synced, SyncSource

_NAMED = 5
"""Most failed documents that are named."""

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The source's name.")]


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Letters, digits and hyphens.")],
    location: Annotated[str, typer.Argument(help="A folder, or https://… or file:///… of Git.")],
    *,
    branch: Annotated[str, typer.Option(help="Empty: the repository's own.")] = "",
    subfolder: Annotated[str, typer.Option(help="Read only this part of a repository.")] = "",
    every: Annotated[int, typer.Option(min=1, help="Minutes between two syncs.")] = 60,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Sync a folder or a Git repository from now on; the same NAME replaces it.

    The platform must be allowed to read it: FLOWXPERT_SYNC_ALLOWED_HOSTS for an address,
    FLOWXPERT_INGESTION_ALLOWED_ROOTS for a folder. Credentials are FLOWXPERT_SYNC_CREDENTIALS.
    """
    from services.contracts.syncing import SyncRequest, SyncSourcesClient  # noqa: PLC0415

    request = SyncRequest(
        name=name, location=location, branch=branch, subfolder=subfolder, every_minutes=every
    )
    with client_of(url) as client:
        source = SyncSourcesClient(client).declare(request)
    print_json(source) if as_json else _show(source)


@app.command("list")
def list_sources(*, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """List what is synced, and how each last sync went; with --json a line for each."""
    from services.contracts.syncing import SyncSourcesClient  # noqa: PLC0415

    with client_of(url) as client:
        for source in SyncSourcesClient(client).sources():
            typer.echo(source.model_dump_json()) if as_json else _show(source)


@app.command()
def remove(name: Name, *, url: Url = DEFAULT_URL) -> None:
    """Stop syncing a source; `flowxpert forget ROOT` takes its documents out."""
    from services.contracts.syncing import SyncSourcesClient  # noqa: PLC0415

    with client_of(url) as client:
        SyncSourcesClient(client).withdraw(name)


@app.command()
def sync(name: Name, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Sync a source now; `flowxpert sources log` shows the outcome."""
    from services.contracts.syncing import SyncSourcesClient  # noqa: PLC0415

    with client_of(url) as client:
        source = SyncSourcesClient(client).sync(name)
    print_json(source) if as_json else _show(source)


@app.command()
def log(
    name: Name,
    *,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Most syncs.")] = 20,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show what each sync changed and which approvals were lost, the newest first."""
    from services.contracts.syncing import SyncSourcesClient  # noqa: PLC0415

    with client_of(url) as client:
        for synced in SyncSourcesClient(client).syncs(name, limit=limit):
            typer.echo(synced.model_dump_json()) if as_json else _show_sync(synced)


def _show(source: "SyncSource") -> None:
    from services.cli.terminal import show_line  # noqa: PLC0415

    show_line(f"{source.name}  {source.location} {source.branch} {source.subfolder}".rstrip())
    show_line(f"  every {source.every_minutes} min, next {source.next_at:%Y-%m-%d %H:%M}")
    show_line(f"  documents of {source.root}")
    if source.last is not None:
        _show_sync(source.last)


def _show_sync(synced: "Synced") -> None:
    from services.cli.terminal import show_line  # noqa: PLC0415

    commits = f" {synced.commit_before[:10] or 'nothing'} → {synced.commit_after[:10]}"
    show_line(
        f"  {synced.began_at:%Y-%m-%d %H:%M} {synced.status}"
        f"{commits if synced.commit_after else ''}: {len(synced.added)} added, "
        f"{len(synced.changed)} changed, {len(synced.deleted)} deleted, "
        f"{synced.failed} failed {synced.reason}".rstrip()
    )
    for each in synced.failures[:_NAMED]:
        show_line(f"    failed: {each.document_id}: {each.reason}")
    if synced.failed > _NAMED:
        show_line(f"    and {synced.failed - _NAMED} more: GET /v1/ingestions/{synced.job_id}")
    for lost in synced.approvals_lost:
        show_line(f"    approval lost: {lost.document_id}: {'; '.join(lost.procedures)}")
