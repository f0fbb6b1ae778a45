"""`flowxpert proposals`: proposed pages that wait for approval.

The commands talk to the platform that `--url` or FLOWXPERT_URL names, or that runs on the data
folder; where none does, they open the folder themselves, and the documents follow when it runs.
"""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import AsJson, DataDir, Platform, open_local_or_remote, print_json
from services.contracts.proposals import ProposalState
from services.kit.files import read_text, require_file

if TYPE_CHECKING:
    from services.contracts.proposals import ProposalDetail, Proposals

app = typer.Typer(no_args_is_help=True)

PageId = Annotated[
    str, typer.Argument(help="Its id or the beginning of it, or its document's id or its end.")
]
Why = Annotated[str, typer.Option(help="In a few words.")]


@app.command("list")
def list_proposals(
    *,
    state: Annotated[ProposalState | None, typer.Option(help="All without it.")] = None,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """List proposed pages, the latest first, with who decided."""
    from services.cli.proposal_view import show_proposals  # noqa: PLC0415

    with _proposals(data_dir, url) as proposals:
        summaries = proposals.proposals(state)
    if as_json:
        typer.echo(json.dumps([each.model_dump(mode="json") for each in summaries], indent=2))
    else:
        show_proposals(summaries)


@app.command()
def show(
    page: PageId, *, data_dir: DataDir = None, url: Platform = None, as_json: AsJson = False
) -> None:
    """Show a page's lines, its procedures, and the runs that it comes from."""
    with _proposals(data_dir, url) as proposals:
        _print_proposal(proposals.proposal(page), as_json=as_json)


@app.command()
def accept(
    page: PageId,
    *,
    text: Annotated[
        Path | None,
        typer.Option(
            help="The text as you edited it; it must say the same.", callback=require_file
        ),
    ] = None,
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Approve a page: it becomes a document whose reading you have approved."""
    from services.contracts.proposals import Acceptance  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    try:
        edited = read_text(text) if text else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"expected a text at {str(text)!r}: {error}") from error
    with _proposals(data_dir, url) as proposals:
        seen = proposals.proposal(page)
        acceptance = Acceptance(text=edited, text_hash=seen.text_hash)
        _print_proposal(proposals.accept(seen.id, acceptance), as_json=as_json)


@app.command()
def reject(
    page: PageId,
    *,
    why: Why = "",
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Reject a page for good."""
    from services.contracts.proposals import Dismissal  # noqa: PLC0415

    with _proposals(data_dir, url) as proposals:
        rejected = proposals.reject(page, Dismissal(why=why))
        _print_proposal(rejected, as_json=as_json)


@app.command()
def withdraw(
    page: PageId,
    *,
    why: Why = "",
    data_dir: DataDir = None,
    url: Platform = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw an accepted page from the documents; its text stays here."""
    from services.contracts.proposals import Dismissal  # noqa: PLC0415

    with _proposals(data_dir, url) as proposals:
        withdrawn = proposals.withdraw(page, Dismissal(why=why))
        _print_proposal(withdrawn, as_json=as_json)


def _proposals(data_dir: Path | None, url: str | None) -> AbstractContextManager["Proposals"]:
    from services.contracts.proposals import ProposalsClient  # noqa: PLC0415
    from services.ingestion.offline import open_proposals_here  # noqa: PLC0415

    return open_local_or_remote(data_dir, url, open_proposals_here, ProposalsClient)


def _print_proposal(detail: "ProposalDetail", *, as_json: bool) -> None:
    from services.cli.proposal_view import show_proposal  # noqa: PLC0415

    if as_json:
        print_json(detail)
    else:
        show_proposal(detail)
